// Kernels of NumPy reductions for CPUs.

#include "executor/kernels/numpy/reduction_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyReductionKernels<CpuReduce>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
