// Softmax with the gradient of the cross entropy with label. MXNet: src/operator/softmax_output.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum SoftmaxOutputArrays::Input;

// Returns whether `known` does not contradict `wanted`.
bool Compatible(PartialShape known, const PartialShape& wanted) { return known.Merge(wanted); }

// Shape rule with multi_output: data (n, k, d1, d2, ...), label (n, d1 * d2 * ...), (n, d1, d2,
// ...) or (n, 1, d1, d2, ...); an unknown label becomes the first of these.
absl::Status MultiOutputLabelShape(ShapeContext& c) {
  const PartialShape& data = c.input(kData);
  const PartialShape flat = {data[0], PartialShape(data.dims().subspan(2)).num_elements()};
  PartialShape dropped = PartialShape::OfRank(data.rank() - 1);
  PartialShape kept = data;
  dropped[0] = data[0];
  for (int i = 2; i < data.rank(); ++i) dropped[i - 1] = data[i];
  kept[1] = 1;
  const PartialShape& label = c.input(kLabel);
  if (!label.rank_known()) return c.SetInput(kLabel, flat);
  for (const PartialShape& wanted : {flat, dropped, kept}) {
    if (Compatible(label, wanted)) return c.SetInput(kLabel, wanted);
  }
  return c.SetInput(kLabel, flat, "data's shape without the class axis");
}

// Shape rule: data (n, k), or (..., k); label has data's shape without the last axis, or data's
// shape if it holds probabilities. As in MXNet, the shape of label gives no information about data.
absl::Status SoftmaxOutputShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  if (c.param<SoftmaxOutputParam>().multi_output && data.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "with multi_output input 'data' needs at least 2 axes, got ", data.ToString()));
  }
  const PartialShape& label = c.input(kLabel);
  if (label.rank_known() && label.rank() == data.rank() && Compatible(label, data) &&
      !(c.param<SoftmaxOutputParam>().multi_output && label.rank() > 1 && label[1] == 1)) {
    return c.SetInput(kLabel, data);
  }
  if (c.param<SoftmaxOutputParam>().multi_output) return MultiOutputLabelShape(c);
  if (data.rank() == 1 && !c.param<SoftmaxOutputParam>().preserve_shape) {
    // Each element of data is a row of one class. As in MXNet, only probabilities fit as labels.
    return label.rank_known() ? c.SetInput(kLabel, data, "data's shape, which has no class axis")
                              : absl::OkStatus();
  }
  return c.SetInput(kLabel, PartialShape(data.dims().first(data.rank() - 1)),
                    "data's shape without the class axis");
}

absl::StatusOr<std::vector<NodeEntry>> SoftmaxOutputGradient(GradientContext& c) {
  return c.Backward("_backward_SoftmaxOutput", {c.input(kLabel), c.output(0)});
}

COOPER_REGISTER_OP(SoftmaxOutput)
    .Describe(
        "Softmax of data. The gradient is that of the cross entropy between it and label; head "
        "gradients are ignored.")
    .Alias("Softmax")
    .Param<SoftmaxOutputParam>()
    .Inputs({"data", "label"})
    .Shape(SoftmaxOutputShape)
    .Type(SameType)
    .Gradient(SoftmaxOutputGradient)
    .InPlace({{0, 0}})
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_SoftmaxOutput)
    .Describe("Gradient of SoftmaxOutput with respect to data.")
    .Param<SoftmaxOutputParam>()
    .Inputs({"label", "output"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType)
    .InPlace({{1, 0}});

}  // namespace
}  // namespace cooper
