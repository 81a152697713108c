// Kernels of NumPy's random arrays for GPUs.

#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/numpy/random_kernels.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyRandomKernels<CudaReduce>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
