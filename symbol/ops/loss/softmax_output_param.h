#ifndef COOPER_SYMBOL_OPS_LOSS_SOFTMAX_OUTPUT_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_SOFTMAX_OUTPUT_PARAM_H_

#include "symbol/ops/loss/normalization.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (n, k) or (..., k), label without the last axis, or of data's shape for
// probabilities.
struct SoftmaxOutputArrays {
  enum Input { kData, kLabel };
};
struct SoftmaxOutputGradientArrays {
  enum Input { kLabel, kOutput };
};

struct SoftmaxOutputParam {
  double grad_scale = 1.0;
  double ignore_label = -1.0;
  bool multi_output = false;
  bool use_ignore = false;
  bool preserve_shape = false;
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
    d.Enum("normalization", &SoftmaxOutputParam::normalization, NormalizationNames())
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
