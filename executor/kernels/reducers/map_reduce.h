#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_

// Reductions on the CPU over any set of axes, of an array or of an elementwise function of several
// arrays that are broadcast together. The function's values are never stored: a function of one
// array is a part of the reduction's loops (reduce_loops.h), and for others a short block of values
// is computed and reduced at a time. Sums of 16-bit floats are computed in float. The order of
// every sum depends on the shapes alone, not on the number of threads.
//
// For example, the norm of the rows of x (2, 3) has full {2, 3}, one operand of shape {2, 3}, the
// map x * x, output_shape {2, 1}, and an end with the square root. element_reduce.h is the
// counterpart for GPUs; executor/kernels/reduce has the operators.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/reducers/reduce_loops.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"

namespace cooper {

// A reduction: reducer(map(operands)), followed by `end`.
struct Reduction {
  // How the values of map(operands) are combined.
  Reducer reducer = Reducer::kSum;
  // The function of the operands to reduce. If null, the only operand is reduced itself. Not owned.
  const ElemwiseLoops* map = nullptr;
  // The loops of `reducer` over a map of one operand: kReducerLoops<reducer, map>. If null, values
  // of the map are computed in blocks. Not owned.
  const ReducerLoops* loops = nullptr;
  // The operations applied to each result after all values are combined.
  ReductionEnd end = {};
};

// Computes a reduction over the extents `full`, on several threads:
//
//   output = or += end(reducer over the reduced axes of map(operands...))
//
// Operands and output are broadcast to `full` from `operand_shapes` and `output_shape`, which have
// its rank; an operand of extent 1 along an axis repeats along it. Axes along which `output_shape`
// has extent 1 or 0 are reduced. `output` has as many elements as `output_shape`. `workspace` has
// ReductionWorkspace() bytes; it and `output` must not overlap the operands. Does nothing for kNull
// or an output without elements. The compute type is that of the output's dtype, for bools that of
// the first operand's (DispatchComputeType). Norms whose sum of squares float cannot hold are
// computed a second time in double.
//
// Errors: kUnimplemented if more axes remain than BroadcastPlan::kMaxRank after neighbouring axes
// are merged.
absl::Status RunReduction(const Reduction& reduction, absl::Span<const int64_t> full,
                          absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> operand_shapes,
                          const ArrayView& output, absl::Span<const int64_t> output_shape,
                          WriteReq req, void* workspace);

// Returns the workspace bytes that RunReduction needs for an output of this size and dtype, which
// need not have memory. 0 for kNull, and if intermediate results fit in the output itself: for
// kWrite to float64, or to float32 without a square root. Otherwise 8 bytes for each element of the
// output.
int64_t ReductionWorkspace(const ArrayView& output, WriteReq req, const ReductionEnd& end = {});

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_MAP_REDUCE_H_
