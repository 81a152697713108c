// A fully connected layer and the softmax of its output, with the gradient of the cross entropy
// with label. Not in symbol files: a graph pass builds it from FullyConnected and SoftmaxOutput.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/fc_softmax_inputs.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

enum Input { kData, kWeight };

// Shape rule: output (rows, classes).
template <bool kTransposedWeight>
absl::Status FcSoftmaxOutputShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetFcSoftmaxInputs(c, kTransposedWeight));
  return c.SetOutput(0, {c.input(kData)[0], c.param<FcSoftmaxOutputParam>().num_hidden},
                     "(rows, classes)");
}

absl::StatusOr<std::vector<NodeEntry>> FcSoftmaxOutputGradient(GradientContext& c) {
  const int label = c.num_inputs() - 1;
  return c.Backward("_backward_fc_softmax_output",
                    {c.input(label), c.output(0), c.input(kData), c.input(kWeight)});
}

COOPER_REGISTER_OP(_fc_softmax_output)
    .Describe("SoftmaxOutput of FullyConnected.")
    .Param<FcSoftmaxOutputParam>()
    .Inputs(FcSoftmaxInputs)
    .Shape(FcSoftmaxOutputShape<false>)
    .Type(SameType)
    .Gradient(FcSoftmaxOutputGradient)
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_fc_softmax_output_transposed)
    .Describe("_fc_softmax_output with a weight of shape (features, classes), without a gradient.")
    .Param<FcSoftmaxOutputParam>()
    .Inputs(FcSoftmaxInputs)
    .Shape(FcSoftmaxOutputShape<true>)
    .Type(SameType)
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_fc_softmax_output)
    .Describe("Gradients of _fc_softmax_output with respect to data, weight and bias.")
    .Param<FcSoftmaxOutputParam>()
    .Inputs({"label", "output", "data", "weight"})
    .Outputs(FcSoftmaxGradients)
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
