// Kernels of NumPy operators that create arrays for GPUs.

#include "executor/kernels/elemwise/cuda_init.h"
#include "executor/kernels/numpy/creation_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyCreation<CudaInit>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
