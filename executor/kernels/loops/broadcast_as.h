#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_AS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_AS_H_

// RunBroadcast (elemwise_kernel.h) for functions that are not computed in the output's dtype, such
// as comparisons of floats, which give bools.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Computes output = or += f(operands...) as RunBroadcast does, in the compute type of `computed_as`
// instead of the output's dtype: operands are converted to it, and scalars rounded to that dtype.
// Results are converted to the output's dtype. Errors: those of RunBroadcast.
absl::Status RunBroadcastAs(DType computed_as, const ElemwiseLoops& loops,
                            absl::Span<const ElemwiseOperand> operands,
                            absl::Span<const absl::Span<const int64_t>> shapes,
                            absl::Span<const int64_t> full, const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_AS_H_
