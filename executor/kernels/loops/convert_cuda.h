#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_

#include "absl/status/status.h"
#include "executor/program/kernel.h"

namespace cooper {

// Queues output = or += input on a GPU, converted to output's dtype. Both have the same number of
// elements. They may share their data if their dtypes are equal.
absl::Status ConvertArrayGpu(const KernelContext& c, const ArrayView& input,
                             const ArrayView& output, WriteReq req);

// Queues output = or += value.
absl::Status FillArrayGpu(const KernelContext& c, double value, const ArrayView& output,
                          WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
