// Kernels of _npi_where and its relatives for GPUs.

#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/numpy/where_kernels.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kRegistered = WhereKernels<CudaReduce>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
