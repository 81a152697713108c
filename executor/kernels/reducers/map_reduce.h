#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_

// Reductions over any set of axes, of an array or of an elementwise function of several arrays that
// are broadcast together. The function's values are never stored: a short block of them is made and
// reduced at a time. Sums of 16-bit floats are kept in float. The order of every sum is fixed by
// the shapes alone, not by the number of threads.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"

namespace cooper {

struct Reduction {
  Reducer reducer = Reducer::kSum;
  // What is reduced, a function of the operands; null for the only operand itself.
  const ElemwiseLoops* map = nullptr;
  ReductionEnd end = {};
};

// Reduces over `full`, to which operands and output are broadcast from their own shapes; axes along
// which the output's shape `output_shape` has one element (or none) are reduced. `output` has as
// many elements as that shape. `workspace` is of ReductionWorkspace() bytes. Roots of sums that
// float does not hold are reduced once more, in double.
absl::Status RunReduction(const Reduction& reduction, absl::Span<const int64_t> full,
                          absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> operand_shapes,
                          const ArrayView& output, absl::Span<const int64_t> output_shape,
                          WriteReq req, void* workspace);

// Bytes that RunReduction needs for an output like this.
int64_t ReductionWorkspace(const ArrayView& output, WriteReq req, const ReductionEnd& end = {});

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_
