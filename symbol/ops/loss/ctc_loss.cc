// Connectionist temporal classification loss. MXNet: src/operator/nn/ctc_loss.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/ctc_loss_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum CtcLossArrays::Input;

OpSchema::Names Inputs(const OpCall& call) {
  const auto& param = call.param<CtcLossParam>();
  OpSchema::Names names = {"data", "label"};
  if (param.use_data_lengths) names.push_back("data_lengths");
  if (param.use_label_lengths) names.push_back("label_lengths");
  return names;
}

// Shape rule: data (sequence_length, batch_size, classes), label (batch_size, label_length),
// lengths and output (batch_size,).
absl::Status CtcLossShape(ShapeContext& c) {
  if (c.input(kData).rank_known()) {
    COOPER_RETURN_IF_ERROR(
        c.SetInput(kData, PartialShape::OfRank(3), "(sequence_length, batch_size, classes)"));
    if (c.input(kData)[2] == 0) {
      return absl::InvalidArgumentError(absl::StrCat("input 'data' ", c.input(kData).ToString(),
                                                     " has no classes, of which one is the blank"));
    }
    const int64_t batch = c.input(kData)[1];
    COOPER_RETURN_IF_ERROR(c.SetInput(kLabel, {batch, kUnknownDim}, "(batch_size, label_length)"));
    for (int i = 2; i < c.num_inputs(); ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, {batch}, "(batch_size,)"));
    }
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, {batch}, "(batch_size,)"));
  }
  const PartialShape& data = c.input(kData);
  const PartialShape& label = c.input(kLabel);
  if (data.IsFull() && label.IsFull() && label[1] > data[0]) {
    return absl::InvalidArgumentError(absl::StrCat("input 'label' has shape ", label.ToString(),
                                                   ": longer than the ", data[0],
                                                   " steps of input 'data' ", data.ToString()));
  }
  return absl::OkStatus();
}

// Type rule: labels and lengths may have any dtype.
absl::Status CtcLossType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  return c.SetInput(kData, c.output(0));
}

// Gradient rule: MXNet keeps the gradient, as large as data, from the forward pass; here the
// backward pass computes it.
absl::StatusOr<std::vector<NodeEntry>> CtcLossGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  std::vector<NodeEntry> inputs;
  inputs.reserve(static_cast<size_t>(c.num_inputs()) + 1);
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  inputs.push_back(head);
  return c.Backward("_backward_ctc_loss", std::move(inputs));
}

COOPER_REGISTER_OP(CTCLoss)
    .Describe(
        "-log of the probability of label: the sum over all ways to spread it, with blanks "
        "between, over the steps of softmax(data). data is (steps, batch_size, classes), label "
        "(batch_size, label_length) with classes from 1 on (blank_label first, where 0 pads it) or "
        "from 0 on (last, where -1 does), the output (batch_size,): MakeLoss around it trains. A "
        "label that does not fit into its steps has the loss 0.")
    .Alias("ctc_loss")
    .Alias("_contrib_CTCLoss")
    .Alias("_contrib_ctc_loss")
    .Param<CtcLossParam>()
    .Inputs(Inputs)
    .Outputs({"output"})
    .Shape(CtcLossShape)
    .Type(CtcLossType)
    .Gradient(CtcLossGradient)
    .Kind(OpKind::kLoss);

COOPER_REGISTER_OP(_backward_ctc_loss)
    .Describe("Gradient of CTCLoss with respect to data.")
    .Param<CtcLossParam>()
    .Inputs([](const OpCall& call) {
      OpSchema::Names names = Inputs(call);
      names.push_back("ograd");
      return names;
    })
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(CTCLoss, {}, {{5, 2, 4}, {2, 3}});

}  // namespace
}  // namespace cooper
