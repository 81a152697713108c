// Kernels of NumPy operators that move elements, for GPUs.

#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/numpy/movement_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyMovement<CudaMover>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
