// A fully connected layer and the softmax of its output that returns only the probability of the
// label. LabelProbabilities builds it from FullyConnected and SoftmaxOutput.

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

// Shape rule: output (rows, 1): a class axis of extent 1, since other classifiers have an axis of
// classes.
absl::Status LabelProbabilityShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetFcSoftmaxInputs(c));
  return c.SetOutput(0, {c.input(0)[0], 1}, "(rows, 1)");
}

absl::StatusOr<std::vector<NodeEntry>> LabelProbabilityGradient(GradientContext& c) {
  const int label = c.num_inputs() - 1;
  // The output is an input of the gradient because the gradient's kernel writes it.
  std::vector<NodeEntry> inputs = {c.input(label), c.output(0), c.input(0), c.input(1)};
  if (label == 3) inputs.push_back(c.input(2));
  return c.Backward("_backward_fc_softmax_label_probability", std::move(inputs));
}

COOPER_REGISTER_OP(_fc_softmax_label_probability)
    .Describe("What SoftmaxOutput of FullyConnected gives the label.")
    .Param<FcSoftmaxOutputParam>()
    .Inputs(FcSoftmaxInputs)
    .Shape(LabelProbabilityShape)
    .Type(SameType)
    .Gradient(LabelProbabilityGradient)
    .GradientComputesOutputs()
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_fc_softmax_label_probability)
    .Describe("Gradients of _fc_softmax_label_probability; writes its output, too.")
    .Param<FcSoftmaxOutputParam>()
    .Inputs([](const OpCall& call) {
      OpSchema::Names names = {"label", "output", "data", "weight"};
      if (!call.param<FcSoftmaxOutputParam>().no_bias) names.push_back("bias");
      return names;
    })
    .Outputs(FcSoftmaxGradients)
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
