// Concatenates and stacks arrays along one axis. MXNet: src/operator/nn/concat.cc and, for stack,
// src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

OpSchema::Names ConcatInputs(const OpCall& call) {
  OpSchema::Names names;
  const int count = call.param<ConcatParam>().num_args;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("arg", i));
  return names;
}

// Returns the rank of the output or of any input; -1 if none is known.
int AnyRank(const ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).rank_known()) return c.input(i).rank();
  }
  return c.output(0).rank_known() ? c.output(0).rank() : -1;
}

// Merges the extents that all inputs and the output have in common: all but that of `axis`.
absl::Status ShareOtherExtents(ShapeContext& c, int axis, int rank) {
  PartialShape common = PartialShape::OfRank(rank);
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, common, "the other inputs' extents"));
    PartialShape known = c.input(i);
    known[axis] = kUnknownDim;
    common.Merge(known);
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, common, "the inputs' extents"));
  PartialShape known = c.output(0);
  known[axis] = kUnknownDim;
  common.Merge(known);
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, common, "the output's extents"));
  }
  return absl::OkStatus();
}

// Shape rule: the output's extent at dim is the sum of the inputs' extents. If the output is known,
// up to `max_inferred` inputs of unknown extent share the rest.
absl::Status JoinedShape(ShapeContext& c, int max_inferred) {
  const int rank = AnyRank(c);
  if (rank < 0) return absl::OkStatus();
  if (rank == 0) return absl::InvalidArgumentError("scalars cannot be concatenated");
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.param<ConcatParam>().dim, rank, "dim"));
  COOPER_RETURN_IF_ERROR(ShareOtherExtents(c, axis, rank));
  int64_t sum = 0;
  std::vector<int> unknown;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).dim_known(axis)) {
      sum = ExtentSum(sum, c.input(i)[axis]);
    } else {
      unknown.push_back(i);
    }
  }
  PartialShape known = PartialShape::OfRank(rank);
  if (unknown.empty()) {
    known[axis] = sum;
    return c.SetOutput(0, known, "the inputs' extents together");
  }
  const int count = static_cast<int>(unknown.size());
  if (!c.output(0).dim_known(axis) || count > max_inferred) return absl::OkStatus();
  const int64_t rest = c.output(0)[axis] - sum;
  if (rest < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the inputs have extent ", sum, " at axis ",
                                                   axis, " already, the output ",
                                                   c.output(0).ToString(), " has less"));
  }
  known[axis] = rest / count;
  for (int i : unknown) COOPER_RETURN_IF_ERROR(c.SetInput(i, known, "what the output has left"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeEntry>> ConcatGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_Concat", {head});
}

int DimOf(const OpCall& call) { return call.param<ConcatParam>().dim; }
int AxisOf(const OpCall& call) { return call.param<StackParam>().axis; }

COOPER_REGISTER_OP(Concat)
    .Describe("The inputs one after the other along axis dim.")
    .Alias("concat")
    .Alias("_sparse_concat")
    .Param<ConcatParam>()
    .VariadicInputs("num_args")
    .Shape([](ShapeContext& c) { return JoinedShape(c, 1); })
    .Type(SameType)
    .Gradient(ConcatGradient)
    .Joins(DimOf)
    .Kind(OpKind::kShaping)
    .Summary("dim");

COOPER_REGISTER_OP(_backward_Concat)
    .Describe("ograd cut into gradients of the inputs.")
    .Param<ConcatParam>()
    .Inputs({"ograd"})
    .Outputs(ConcatInputs)
    .Shape(GradientShape)
    .Type(SameType)
    .Splits(DimOf);

COOPER_REGISTER_OP(_rnn_param_concat)
    .Describe("Concat that infers the extents of up to two inputs from the output.")
    .Alias("_npi_rnn_param_concat")
    .Param<ConcatParam>()
    .VariadicInputs("num_args")
    .Shape([](ShapeContext& c) { return JoinedShape(c, 2); })
    .Type(SameType)
    .Gradient(ConcatGradient);

// Shape rule: all inputs have one shape; the output has a new axis of extent num_args.
absl::Status StackShape(ShapeContext& c) {
  const auto& param = c.param<StackParam>();
  PartialShape common;
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, common, "the other inputs' shape"));
    common.Merge(c.input(i));
  }
  if (!common.rank_known() && !c.output(0).rank_known()) return absl::OkStatus();
  const int rank = common.rank_known() ? common.rank() + 1 : c.output(0).rank();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, rank));
  PartialShape stacked = PartialShape::OfRank(rank);
  stacked[axis] = c.num_inputs();
  for (int i = 0; common.rank_known() && i < rank - 1; ++i) {
    stacked[i < axis ? i : i + 1] = common[i];
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, stacked, "the inputs' shape with num_args at axis"));
  PartialShape single = PartialShape::OfRank(rank - 1);
  for (int i = 0; i < rank - 1; ++i) single[i] = c.output(0)[i < axis ? i : i + 1];
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, single, "the output's shape without axis"));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(stack)
    .Describe("The inputs along a new axis.")
    .Param<StackParam>()
    .VariadicInputs("num_args")
    .Shape(StackShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_stack", {head});
    })
    .Joins(AxisOf)
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_backward_stack)
    .Describe("ograd cut into gradients of the inputs.")
    .Param<StackParam>()
    .Inputs({"ograd"})
    .Outputs([](const OpCall& call) {
      OpSchema::Names names;
      const int count = call.param<StackParam>().num_args;
      for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("arg", i));
      return names;
    })
    .Shape(GradientShape)
    .Type(SameType)
    .Splits(AxisOf);

}  // namespace
}  // namespace cooper
