// Kernels of NumPy functions of one array with parameters for GPUs.

#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/numpy/parametric_unary_kernels.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyParametricUnary<CudaReduce>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
