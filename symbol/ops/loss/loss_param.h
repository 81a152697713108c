#ifndef COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_

// Parameters and arrays of the smaller losses: the regression outputs (regression_output.cc),
// SVMOutput (svm_output.cc) and softmax_cross_entropy, which has no parameters. SoftmaxOutput and
// CTCLoss have headers of their own. The operators *Output return a prediction and start their own
// gradient: head gradients are ignored.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of the smaller losses; the gradients read the label and the output. softmax_cross_entropy
// takes data (batch_size, classes) and label (batch_size,) and returns (1,): the sum over the batch
// of -log(max(softmax(data)[label], 1e-8)). Its gradient is ograd * (softmax(data) -
// onehot(label)); a label outside of the classes counts as the nearest one in the loss and as none
// in the gradient.
struct LossArrays {
  enum Input { kData, kLabel };
};
// Inputs of the gradients of the operators *Output.
struct LossGradientArrays {
  enum Input { kLabel, kOutput };
};
// Inputs of the gradient of softmax_cross_entropy, which computes the softmax again.
struct SoftmaxCrossEntropyGradientArrays {
  enum Input { kOgrad, kData, kLabel };
};

// Parameters of LinearRegressionOutput, LogisticRegressionOutput and MAERegressionOutput. The
// output has data's shape: data, or sigmoid(data) for the logistic one. label has data's shape or
// another one with the same batch size and number of elements; its shape is inferred as data's, or
// (batch_size,) for data (batch_size, 1). With n the number of labels of a sample, data's gradient
// is
//
//   (output - label) * grad_scale / n,   MAE: (output > label ? 1 : -1) * grad_scale / n
//
// As in MXNet, the batch size does not divide it (Module sets rescale_grad), and the sign of 0 is
// -1.
struct RegressionOutputParam {
  double grad_scale = 1.0;

  static void Declare(ParamDeclaration<RegressionOutputParam>& d) {
    d.Field("grad_scale", &RegressionOutputParam::grad_scale).Doc("factor of the gradient");
  }
};

// Parameters of SVMOutput, a one-against-all hinge loss. data and output are (..., classes), label
// (...). With t = 1 for the label's class and -1 for the others, the loss of a score y is max(0,
// margin - t * y), or its square without use_linear. Where margin - t * y is positive, the gradient
// is -t * c with use_linear, else -2 * t * c * (margin - t * y), with c =
// regularization_coefficient; elsewhere it is 0.
struct SvmOutputParam {
  double margin = 1.0;
  double regularization_coefficient = 1.0;
  bool use_linear = false;

  static void Declare(ParamDeclaration<SvmOutputParam>& d) {
    d.Field("margin", &SvmOutputParam::margin).Doc("scores beyond it have no gradient");
    d.Field("regularization_coefficient", &SvmOutputParam::regularization_coefficient)
        .Doc("factor of the gradient");
    d.Field("use_linear", &SvmOutputParam::use_linear)
        .Doc("whether the loss is the distance to the margin, not its square");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_LOSS_PARAM_H_
