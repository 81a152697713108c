// Kernels of _npi_where and its relatives for CPUs.

#include "executor/kernels/numpy/where_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = WhereKernels<CpuReduce>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
