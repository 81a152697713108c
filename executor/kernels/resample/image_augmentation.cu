// Kernels of crops and flips of images for GPUs. Changes of colours and sizes have none.

#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/resample/image_movement.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = ImageMovement<CudaMover>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
