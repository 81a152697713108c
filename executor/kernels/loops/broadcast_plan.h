#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_PLAN_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_PLAN_H_

// Plans loops over arrays of different shapes that are broadcast together. Axes that can be walked
// as one are merged, so that the inner loop is as long as possible. Arrays are aligned at their
// last axes. Along an axis where an array's extent is 1 or missing, its stride is 0.
//
// Element loops with broadcasting (elemwise_kernel.cc, element_walk.h) and reductions
// (executor/kernels/reducers) use plans on both devices. A plan is pure data and has no pointers;
// element_walk.h has its form for GPU kernels. strided_loop.h has loops over two arrays with given
// strides.
//
// For full = (2, 3, 4) and operands (2, 3, 4) and (3, 4), the plan has extents {2, 12} and strides
// {12, 1} and {0, 1}: the last two axes are contiguous in both operands, so they are one axis.

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The merged axes, outermost first, and the operands' strides. Elements of the arrays beyond `rank`
// and `num_operands` have no defined values.
struct BroadcastPlan {
  static constexpr int kMaxRank = 16;  // after merging
  // The operands of a function and the output, which a reduction walks over too.
  static constexpr int kMaxOperands = 5;

  int rank = 0;  // at least 1
  int num_operands = 0;
  // The number of positions along each axis: at least 2, except in a plan of one axis and in empty
  // arrays.
  std::array<int64_t, kMaxRank> extents;
  // Distances in elements between consecutive positions along each axis; 0 where the operand is
  // broadcast.
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides;

  // Returns the product of the extents: 1 for full = (), 0 if an extent of `full` is 0.
  int64_t num_elements() const;
};

// Fills `plan`. `full` has the largest extent of each axis. Returns false if more than kMaxRank
// axes remain. Allocates nothing. Thread-safe. O(axes * operands) time.
//
// There are at most kMaxOperands operands, each with at most full.size() axes whose extents are 1
// or those of `full`; none of this is checked, because shape inference has done it. Operands are
// dense and row-major.
bool MakeBroadcastPlan(absl::Span<const int64_t> full,
                       absl::Span<const absl::Span<const int64_t>> operands, BroadcastPlan* plan);

// Calls fn(offsets, n, position) for each run of the inner axis within the positions [begin, end)
// of the walk in row-major order. offsets[k] is the offset of operand k at the start of the run, in
// elements; n is the run's length; `position` is the position of its first element, which is also
// its offset in a dense array of the shape `full`. Within a run, operand k advances by
// plan.strides[k][plan.rank - 1] per element. `offsets` is valid during the call.
//
// Requires end <= plan.num_elements(). The first and last run may be part of the inner axis, so a
// parallel loop may cut the positions anywhere. The start costs a division per axis; each further
// run costs additions.
template <typename Fn>
void WalkBroadcast(const BroadcastPlan& plan, int64_t begin, int64_t end, Fn&& fn) {
  if (begin >= end) return;
  const int inner = plan.rank - 1;
  std::array<int64_t, BroadcastPlan::kMaxRank> index;
  std::array<int64_t, BroadcastPlan::kMaxOperands> offsets = {};
  int64_t rest = begin;
  for (int axis = inner; axis >= 0; --axis) {
    index[axis] = rest % plan.extents[axis];
    rest /= plan.extents[axis];
    for (int k = 0; k < plan.num_operands; ++k) offsets[k] += index[axis] * plan.strides[k][axis];
  }
  for (int64_t position = begin; position < end;) {
    int64_t n = plan.extents[inner] - index[inner];
    if (n > end - position) n = end - position;
    fn(offsets.data(), n, position);
    position += n;
    if (position >= end) return;
    // The run ended with the inner axis: advance to the next row.
    for (int k = 0; k < plan.num_operands; ++k) {
      offsets[k] -= index[inner] * plan.strides[k][inner];
    }
    index[inner] = 0;
    for (int axis = inner - 1; axis >= 0; --axis) {
      for (int k = 0; k < plan.num_operands; ++k) offsets[k] += plan.strides[k][axis];
      if (++index[axis] < plan.extents[axis]) break;
      for (int k = 0; k < plan.num_operands; ++k) {
        offsets[k] -= plan.extents[axis] * plan.strides[k][axis];
      }
      index[axis] = 0;
    }
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_BROADCAST_PLAN_H_
