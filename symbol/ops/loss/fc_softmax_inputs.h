#ifndef COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_INPUTS_H_
#define COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_INPUTS_H_

// The inputs shared by the operators that fuse a fully connected layer with its softmax and loss,
// for the schemas in fc_softmax_output.cc and fc_softmax_label_probability.cc. Fusing avoids an
// array of the scores (rows, classes), which is large for large vocabularies.

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"
#include "symbol/ops/rules/bias_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns the input names: "bias" only unless no_bias. The label is always the last input.
inline OpSchema::Names FcSoftmaxInputs(const OpCall& call) {
  if (call.param<FcSoftmaxOutputParam>().no_bias) return {"data", "weight", "label"};
  return {"data", "weight", "bias", "label"};
}

// Returns the names of the inputs that have gradients: all but the label.
inline OpSchema::Names FcSoftmaxGradients(const OpCall& call) {
  OpSchema::Names names = FcSoftmaxInputs(call);
  names.pop_back();
  return names;
}

// Sets the inputs' shapes: data (rows, features), weight (classes, features) or, transposed,
// (features, classes), bias (classes,) or (classes, 1) unless no_bias, label (rows,). Fails with
// kInvalidArgument for other shapes. In contrast to FullyConnected, data must have two axes. The
// number of classes is num_hidden. The features come from data or from the weight, whichever is
// known, and the rows from data alone.
inline absl::Status SetFcSoftmaxInputs(ShapeContext& c, bool transposed_weight = false) {
  enum Input { kData, kWeight, kBias };
  const int64_t classes = c.param<FcSoftmaxOutputParam>().num_hidden;
  const int label = c.num_inputs() - 1;
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, PartialShape::OfRank(2), "(rows, features)"));
  const int64_t features = c.input(kData)[1];
  COOPER_RETURN_IF_ERROR(transposed_weight
                             ? c.SetInput(kWeight, {features, classes}, "(features, classes)")
                             : c.SetInput(kWeight, {classes, features}, "(classes, features)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(
      kData, {kUnknownDim, c.input(kWeight)[transposed_weight ? 0 : 1]}, "(rows, features)"));
  if (label == 3) COOPER_RETURN_IF_ERROR(SetBias(c, kBias, classes, "(classes,)"));
  return c.SetInput(label, {c.input(kData)[0]}, "(rows,)");
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_INPUTS_H_
