// Kernels of NumPy operators that create arrays for CPUs.

#include "executor/kernels/elemwise/cpu_init.h"
#include "executor/kernels/numpy/creation_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyCreation<CpuInit>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
