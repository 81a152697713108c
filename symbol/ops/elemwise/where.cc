// Selects from two arrays, element by element or row by row. MXNet:
// src/operator/tensor/control_flow_op.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/where_arrays.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum WhereArrays::Input;

// Shape rule: the condition has x's shape, or one element per row of x.
absl::Status ConditionShape(ShapeContext& c, int condition, const PartialShape& x) {
  const PartialShape& given = c.input(condition);
  if (!given.rank_known() || !x.rank_known()) return absl::OkStatus();
  if (given.rank() == 1 && x.rank() > 1) {
    return c.SetInput(condition, {x[0]}, "(rows of x,)");
  }
  return c.SetInput(condition, x, "the shape of x");
}

absl::Status WhereShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kX)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kY)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kX, c.output(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kY, c.output(0)));
  return ConditionShape(c, kCondition, c.output(0));
}

absl::Status WhereType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kX)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kY)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kX, c.output(0)));
  return c.SetInput(kY, c.output(0));
}

// Shape rule: both outputs have ograd's shape and dtype.
absl::Status WhereBackwardShape(ShapeContext& c) {
  const PartialShape& ograd = c.input(WhereGradientArrays::kOgrad);
  for (int i = 0; i < 2; ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, ograd));
  return absl::OkStatus();
}

absl::Status WhereBackwardType(TypeContext& c) {
  const auto ograd = c.input(WhereGradientArrays::kOgrad);
  for (int i = 0; i < 2; ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, ograd));
  return absl::OkStatus();
}

COOPER_REGISTER_OP(where)
    .Describe("x where condition is not 0, else y; condition may have one element per row.")
    .Inputs({"condition", "x", "y"})
    .Elementwise()
    .Shape(WhereShape)
    .Type(WhereType)
    .InPlace({{kX, 0}, {kY, 0}})
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(auto grads,
                              c.Backward("_backward_where", {c.input(kCondition), head}));
      return std::vector<NodeEntry>{NodeEntry(), grads[0], grads[1]};
    });

COOPER_REGISTER_OP(_backward_where)
    .Describe("Gradients of where with respect to x and y.")
    .Inputs({"condition", "ograd"})
    .Outputs({"x", "y"})
    .Elementwise()
    .Shape(WhereBackwardShape)
    .Type(WhereBackwardType);

}  // namespace
}  // namespace cooper
