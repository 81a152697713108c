// Scores with the gradient of a one-against-all hinge loss. MXNet: src/operator/svm_output.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/loss_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LossArrays::Input;

// Shape rule: data and output (..., classes), label (...).
absl::Status SvmOutputShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  return c.SetInput(kLabel, PartialShape(data.dims().first(data.rank() - 1)),
                    "data's shape without the class axis");
}

absl::StatusOr<std::vector<NodeEntry>> SvmOutputGradient(GradientContext& c) {
  return c.Backward("_backward_SVMOutput", {c.input(kLabel), c.output(0)});
}

COOPER_REGISTER_OP(SVMOutput)
    .Describe("data; the gradient is that of the hinge loss of each class against the others.")
    .Param<SvmOutputParam>()
    .Inputs({"data", "label"})
    .Shape(SvmOutputShape)
    .Type(SameType)
    .Gradient(SvmOutputGradient)
    .InPlace({{0, 0}})
    .View()
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_SVMOutput)
    .Describe("Gradient of SVMOutput with respect to data.")
    .Param<SvmOutputParam>()
    .Inputs({"label", "output"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{1, 0}});

}  // namespace
}  // namespace cooper
