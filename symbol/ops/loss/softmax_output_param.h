#ifndef COOPER_SYMBOL_OPS_LOSS_SOFTMAX_OUTPUT_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_SOFTMAX_OUTPUT_PARAM_H_

// Arrays and parameters of SoftmaxOutput, the classifier of most MXNet networks: a softmax whose
// gradient is that of the cross entropy with a label. The schema is in softmax_output.cc, the
// kernels in executor/kernels/loss/softmax_output.cc. MXNet: src/operator/softmax_output.cc.

#include "symbol/ops/loss/normalization.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs; the output has data's shape and dtype, and label data's dtype.
//
//   default         data (n, k...)          label (n,): classes are all axes but the first
//   preserve_shape  data (..., k)           label (...)
//   multi_output    data (n, k, d1, ...)    label (n, d1 * ...), (n, d1, ...) or (n, 1, d1, ...)
//
// A label of data's shape holds probabilities instead of class numbers. Without multi_output an
// unknown label gets data's shape without the last axis. As in MXNet, the shape of label gives no
// information about data.
struct SoftmaxOutputArrays {
  enum Input { kData, kLabel };
};
// Inputs of the gradient, which may overwrite the output.
struct SoftmaxOutputGradientArrays {
  enum Input { kLabel, kOutput };
};

// With y the output, k a class and l the label, truncated to an integer, the gradient of data is
//
//   (y[k] - target[k]) * grad_scale / divisor,   target[l] = 1 - smooth_alpha,
//                                                target[k] = smooth_alpha / (classes - 1), k != l
//
// Head gradients are ignored. A label outside of the classes has a target of 0 for its own class,
// so the gradient is y minus smoothing alone. Labels that are probabilities are the target
// themselves; for them use_ignore, normalization and smooth_alpha have no effect.
struct SoftmaxOutputParam {
  double grad_scale = 1.0;
  // The label of rows whose gradient is 0 if use_ignore is set. It is compared as an integer, and
  // normalization kValid counts it out even without use_ignore, as in MXNet.
  double ignore_label = -1.0;
  // Whether classes are axis 1. The gradient is then also divided by the number of positions of a
  // sample, unless normalization is kValid, and smooth_alpha has no effect, as in MXNet.
  bool multi_output = false;
  bool use_ignore = false;
  bool preserve_shape = false;
  // kBatch divides by the number of labels, with multi_output by the batch size.
  Normalization normalization = Normalization::kNull;
  bool out_grad = false;
  double smooth_alpha = 0.0;

  static void Declare(ParamDeclaration<SoftmaxOutputParam>& d) {
    d.Field("grad_scale", &SoftmaxOutputParam::grad_scale).Doc("factor of the gradient");
    d.Field("ignore_label", &SoftmaxOutputParam::ignore_label)
        .Doc("the label of rows without a gradient, with use_ignore");
    d.Field("multi_output", &SoftmaxOutputParam::multi_output)
        .Doc("whether classes are axis 1 and positions the axes after it");
    d.Field("use_ignore", &SoftmaxOutputParam::use_ignore).Doc("whether ignore_label counts");
    d.Field("preserve_shape", &SoftmaxOutputParam::preserve_shape)
        .Doc("whether classes are the last axis alone, not all axes but the first");
    d.Enum("normalization", &SoftmaxOutputParam::normalization, kNormalizationNames)
        .Doc("what the gradient is divided by: nothing, the batch size, or the labels that count");
    // MXNet documents out_grad as a multiplication by the head gradient, but up to 1.9.1 its
    // backward node gets the output in that place. Models were trained with this behaviour, so it
    // is kept.
    d.Field("out_grad", &SoftmaxOutputParam::out_grad)
        .Doc("whether the gradient is multiplied by the output, element by element, as MXNet does");
    d.Field("smooth_alpha", &SoftmaxOutputParam::smooth_alpha)
        .Min(0)
        .Max(1)
        .Doc("probability taken from the label and spread over the other classes");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_SOFTMAX_OUTPUT_PARAM_H_
