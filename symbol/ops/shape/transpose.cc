// Permutes axes. MXNet: src/operator/tensor/matrix_op-inl.h and src/operator/swapaxis-inl.h.

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/transpose_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename Param>
std::vector<int> SourceAxes(const OpCall& call, int rank) {
  std::vector<int> axes(rank);
  for (int i = 0; i < rank; ++i) axes[i] = call.param<Param>().source_axis(i, rank);
  return axes;
}

// Merges the shapes of input and output. The axes must have been checked.
template <typename Param>
absl::Status PermutedShape(ShapeContext& c, const Param& param, int rank) {
  PartialShape data = PartialShape::OfRank(rank), output = data;
  for (int i = 0; i < rank; ++i) {
    const int axis = param.source_axis(i, rank);
    if (c.input(0).rank_known()) output[i] = c.input(0)[axis];
    if (c.output(0).rank_known()) data[axis] = c.output(0)[i];
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(0, data, "the output's extents, transposed back"));
  return c.SetOutput(0, output, "data's extents, transposed");
}

// Returns the rank of the input or output; -1 if unknown.
int KnownRank(const ShapeContext& c) {
  if (c.input(0).rank_known()) return c.input(0).rank();
  return c.output(0).rank_known() ? c.output(0).rank() : -1;
}

absl::Status TransposeShape(ShapeContext& c) {
  const auto& param = c.param<TransposeParam>();
  const int rank = KnownRank(c);
  if (rank < 0) return absl::OkStatus();
  if (!param.axes.empty()) {
    std::vector<bool> seen(rank, false);
    bool permutation = static_cast<int>(param.axes.size()) == rank;
    for (int i = 0; permutation && i < rank; ++i) {
      const int axis = param.source_axis(i, rank);
      permutation = axis >= 0 && axis < rank && !seen[axis];
      if (permutation) seen[axis] = true;
    }
    if (!permutation) {
      return absl::InvalidArgumentError(absl::StrCat("axes ", PrintParamText(param.axes),
                                                     " are not an order of the ", rank,
                                                     " axes of input 'data'"));
    }
  }
  return PermutedShape(c, param, rank);
}

absl::StatusOr<std::vector<NodeEntry>> TransposeGradient(GradientContext& c) {
  const auto& axes = c.param<TransposeParam>().axes;
  const int rank = static_cast<int>(axes.size());
  std::vector<int64_t> inverse(rank);
  for (int i = 0; i < rank; ++i) {
    const int axis = c.param<TransposeParam>().source_axis(i, rank);
    if (axis >= 0 && axis < rank) inverse[axis] = i;
  }
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry gradient,
                          c.Call("transpose", {head}, {{"axes", PrintParamText(inverse)}}));
  return std::vector<NodeEntry>{gradient};
}

COOPER_REGISTER_OP(transpose)
    .Describe("data with its axes in another order.")
    .Param<TransposeParam>()
    .Inputs({"data"})
    .Shape(TransposeShape)
    .Type(SameType)
    .Gradient(TransposeGradient)
    .Transposes(SourceAxes<TransposeParam>)
    .Kind(OpKind::kShaping);

absl::Status SwapAxisShape(ShapeContext& c) {
  const auto& param = c.param<SwapAxisParam>();
  const int rank = KnownRank(c);
  if (rank < 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(NormalizeAxis(param.dim1, rank, "dim1").status());
  COOPER_RETURN_IF_ERROR(NormalizeAxis(param.dim2, rank, "dim2").status());
  return PermutedShape(c, param, rank);
}

absl::StatusOr<std::vector<NodeEntry>> SwapAxisGradient(GradientContext& c) {
  const auto& param = c.param<SwapAxisParam>();
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry gradient, c.Call("SwapAxis", {head},
                                                     {{"dim1", PrintParamText(param.dim1)},
                                                      {"dim2", PrintParamText(param.dim2)}}));
  return std::vector<NodeEntry>{gradient};
}

COOPER_REGISTER_OP(SwapAxis)
    .Describe("data with two of its axes swapped.")
    .Alias("swapaxes")
    .Alias("_npi_swapaxes")
    .Param<SwapAxisParam>()
    .Inputs({"data"})
    .Shape(SwapAxisShape)
    .Type(SameType)
    .Gradient(SwapAxisGradient)
    .Transposes(SourceAxes<SwapAxisParam>)
    .Kind(OpKind::kShaping);

}  // namespace
}  // namespace cooper
