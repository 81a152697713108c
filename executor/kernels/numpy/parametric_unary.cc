// Kernels of NumPy functions of one array with parameters for CPUs.

#include "executor/kernels/numpy/parametric_unary_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyParametricUnary<CpuReduce>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
