#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/broadcast_plan.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int64_t kBlocks = 1024;   // fewer blocks leave a large GPU idle
constexpr int64_t kMinPerLane = 8;  // the least elements of a lane if there are several parts
constexpr int kNeighbours = 32;  // neighbouring elements of the output that a warp reads together
constexpr int64_t kMaxGridX = 1 << 20;

// Returns the number of lanes, a power of 2 up to `most`, that leaves about `each` elements for
// each.
int LanesFor(int64_t count, int most, int64_t each) {
  int lanes = 1;
  while (lanes < most && lanes * each < count) lanes *= 2;
  return lanes;
}

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Chooses lanes and parts. `adjacent` says whether the innermost axis is reduced.
void ChooseLanes(bool adjacent, ReduceArguments* a) {
  a->adjacent = adjacent;
  const int64_t neighbours = std::min<int64_t>(kNeighbours, a->kept.count);
  const int most =
      adjacent ? kReduceThreads : kReduceThreads / LanesFor(neighbours * 4, kNeighbours, 4);
  const auto blocks = [&] { return DivideUp(a->kept.count, kReduceThreads / a->lanes); };
  // A warp needs no barriers. More lanes are used only if there are few blocks or much work for
  // each lane.
  a->lanes = std::max(LanesFor(a->reduced.count, std::min(most, 32), 4),
                      LanesFor(a->reduced.count, most, 64));
  while (a->lanes < most && a->lanes * 4 < a->reduced.count && blocks() < kBlocks) a->lanes *= 2;
  const int64_t enough = a->reduced.count / (a->lanes * kMinPerLane);
  // Parts are used only if lanes are at their most: then a block has few elements of the output,
  // which bounds the workspace.
  a->parts = a->lanes == most ? std::max<int64_t>(1, std::min(enough, kBlocks / blocks())) : 1;
}

// Returns the walk for `a->quads`. Quads are used only if rows are reduced, whose lanes read
// adjacent elements.
ElementWalk QuadsToReduce(const ReduceArguments& a, int arity) {
  ElementWalk none = a.reduced;
  none.count = 0;
  if (!a.adjacent) return none;
  for (int k = 0; k < arity; ++k) {
    // The start of each row must be aligned like the elements after it.
    if (a.reduced.strides[k][a.reduced.rank - 1] == 0) continue;
    for (int axis = 0; axis < a.kept.rank; ++axis) {
      if (a.kept.strides[k][axis] % 4 != 0) return none;
    }
  }
  const ElementWalk quads = QuadWalkOf(a.operands, arity, a.reduced);
  return quads.count * 4 == a.reduced.count ? quads : none;
}

template <typename C>
const ElementReduce::Kernels& KernelsIn(const ElementReduce& function) {
  if constexpr (std::is_same_v<C, float>) {
    return function.f32;
  } else if constexpr (std::is_same_v<C, double>) {
    return function.f64;
  } else {
    return function.i64;
  }
}

absl::Status LaunchReduce(const KernelContext& c, const ElementReduce::Kernels& kernels,
                          const ReduceArguments& a) {
  const int64_t blocks = DivideUp(a.kept.count, kReduceThreads / a.lanes);
  const dim3 grid(BlocksFor(blocks, kMaxGridX), static_cast<unsigned>(a.parts));
  COOPER_RETURN_IF_ERROR(Launch(c, grid, dim3(kReduceThreads), kernels.reduce, a));
  if (a.parts == 1) return absl::OkStatus();
  return Launch(c, dim3(BlocksFor(a.kept.count, kMaxGridX)), dim3(32), kernels.finish, a);
}

}  // namespace

int64_t ElementReduceWorkspace(const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull) return 0;
  // If there are parts, parts times blocks are at most kBlocks, and a block has at most kNeighbours
  // elements of the output.
  return std::min(output.size(), int64_t{kNeighbours}) * kBlocks *
         static_cast<int64_t>(sizeof(int64_t));
}

absl::Status RunElementReduce(const KernelContext& c, const ElementReduce& function,
                              const ReductionEnd& end, absl::Span<const int64_t> full,
                              absl::Span<const ElemwiseOperand> operands,
                              absl::Span<const absl::Span<const int64_t>> operand_shapes,
                              const ArrayView& output, absl::Span<const int64_t> output_shape,
                              WriteReq req, void* workspace) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  int64_t full_size = 1;
  for (int64_t extent : full) full_size *= extent;
  const DType computed_as = output.dtype == DType::kBool ? operands[0].dtype : output.dtype;
  if (output.size() == full_size && end.is_none()) {
    return RunBroadcastMap(c, function.map(), operands, operand_shapes, full, output, req,
                           computed_as);
  }
  absl::Span<const int64_t> shapes[BroadcastPlan::kMaxOperands];
  std::copy(operand_shapes.begin(), operand_shapes.end(), shapes);
  shapes[operands.size()] = output_shape;
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, {shapes, operands.size() + 1}, &plan)) {
    return absl::UnimplementedError(absl::StrCat("reduction: more than ", BroadcastPlan::kMaxRank,
                                                 " axes that cannot be merged"));
  }
  ReduceArguments a = {};
  const auto& target = plan.strides[operands.size()];
  for (int axis = 0; axis < plan.rank; ++axis) {
    (target[axis] == 0 ? a.reduced : a.kept).Add(plan, axis, function.arity);
  }
  ChooseLanes(target[plan.rank - 1] == 0, &a);
  // Norms use double, which holds the squares of all floats: the host cannot know whether float
  // would do.
  const DType reduced = end.square_root && IsFloating(output.dtype) ? DType::kFloat64 : computed_as;
  a.operands = ElementOperandsOf(operands, reduced, function.exact_integers);
  a.partial = workspace;
  a.end = end;
  a.out = output.data;
  a.out_dtype = output.dtype;
  a.add = req == WriteReq::kAdd;
  a.plain = a.operands.AreFloats(function.arity);
  a.quads = QuadsToReduce(a, function.arity);
  return DispatchCompute(reduced, function.exact_integers, [&](auto zero) {
    return LaunchReduce(c, KernelsIn<decltype(zero)>(function), a);
  });
}

}  // namespace cooper
