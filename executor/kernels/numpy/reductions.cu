// Kernels of NumPy reductions for GPUs.

#include "executor/kernels/numpy/reduction_kernels.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyReductionKernels<CudaReduce>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
