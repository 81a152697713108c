// Kernels of NumPy's own functions of two elements for CPUs.

#include "executor/kernels/numpy/binary_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyBinaryKernels<CpuReduce>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
