#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_

// Conversion and filling of whole arrays on a GPU: the counterpart of convert.h, for the same
// operators. The work goes to the context's queue; the functions return without waiting for it.

#include "absl/status/status.h"
#include "executor/program/kernel.h"

namespace cooper {

// Queues output = or += input on a GPU, converted to output's dtype. Both have the same number of
// elements. They may share their data if their dtypes are equal. Does nothing with kNull.
//
// Elements are converted as by ConvertArray. Conversions between float32 and 16-bit floats also go
// through float instead of double, which is faster; with kAdd the sum is then a float. One launch.
//
// Errors: those of Launch.
absl::Status ConvertArrayGpu(const KernelContext& c, const ArrayView& input,
                             const ArrayView& output, WriteReq req);

// Queues output = or += value, with `value` converted to output's dtype; the sum of kAdd is in
// double. One launch, or a memset where 0 is written. Does nothing with kNull.
//
// Errors: those of Launch.
absl::Status FillArrayGpu(const KernelContext& c, double value, const ArrayView& output,
                          WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_CONVERT_CUDA_H_
