// Kernels of NumPy operators that move elements, for CPUs.

#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/numpy/movement_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = NumpyMovement<CpuMover>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
