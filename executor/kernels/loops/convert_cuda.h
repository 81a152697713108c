#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_

#include "absl/status/status.h"
#include "executor/program/kernel.h"

namespace cooper {

// output = input converted to output's dtype, or added to it, on a GPU. The two have one number of
// elements; their data may be the same if their dtypes are.
absl::Status ConvertArrayGpu(const KernelContext& c, const ArrayView& input,
                             const ArrayView& output, WriteReq req);

// output = value, or added to it.
absl::Status FillArrayGpu(const KernelContext& c, double value, const ArrayView& output,
                          WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
