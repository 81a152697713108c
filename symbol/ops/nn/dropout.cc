// Sets random elements to zero. MXNet: src/operator/nn/dropout.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/dropout_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum DropoutArrays::Output;

// Shape rule: mask has data's shape with 1 at `axes`: all elements along them share one draw.
absl::Status DropoutShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(kOutput)));
  PartialShape mask = c.input(0);
  if (!mask.rank_known()) return absl::OkStatus();
  for (int64_t axis : c.param<DropoutParam>().axes) {
    COOPER_ASSIGN_OR_RETURN(int i, NormalizeAxis(axis, mask.rank()));
    mask[i] = 1;
  }
  return c.SetOutput(kMask, mask);
}

// Type rule: the mask has one byte per element, not data's dtype as in MXNet: only the gradient
// reads it.
absl::Status DropoutType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(kOutput)));
  return c.SetOutput(kMask, DType::kUint8);
}

absl::StatusOr<std::vector<NodeEntry>> DropoutGradient(GradientContext& c) {
  if (!c.has_head(kOutput)) return std::vector<NodeEntry>{{}};
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  if (c.param<DropoutParam>().p == 0) return std::vector<NodeEntry>{head};
  return c.Backward("_backward_Dropout", {head, c.output(kMask)});
}

COOPER_REGISTER_OP(Dropout)
    .Describe(
        "In training sets each element to zero with probability p and divides the others by "
        "1 - p; else output is data.")
    .Alias("_npx_dropout")
    .Param<DropoutParam>()
    .Inputs({"data"})
    .Outputs({"output", "mask"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(DropoutShape)
    .Type(DropoutType)
    .Gradient(DropoutGradient)
    .InPlace({{0, 0}})
    .Random()
    .Summary("p");

COOPER_REGISTER_OP(_backward_Dropout)
    .Describe("Gradient of Dropout with respect to data.")
    .Param<DropoutParam>()
    .Inputs({"ograd", "mask"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{0, 0}});

}  // namespace
}  // namespace cooper
