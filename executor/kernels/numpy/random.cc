// Kernels of NumPy's random arrays for CPUs.

#include "executor/kernels/numpy/random_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyRandomKernels<CpuReduce>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
