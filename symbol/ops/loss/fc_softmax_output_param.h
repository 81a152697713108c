#ifndef COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_OUTPUT_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_OUTPUT_PARAM_H_

// Parameters of _fc_softmax_output, its variant with a transposed weight and
// _fc_softmax_label_probability, and arrays of their gradients. Symbol files do not contain these
// operators: a graph pass of the executor and LabelProbabilities build them.

#include <cstdint>

#include "symbol/ops/loss/normalization.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs and outputs of the gradients' kernels; kBias exists only if no_bias is false. kProbability
// is the output: the probabilities of all classes, or, for _fc_softmax_label_probability, those of
// the labels (rows, 1), which its gradient computes and writes.
struct FcSoftmaxGradientArrays {
  enum Input { kLabel, kProbability, kData, kWeight, kBias };
  enum Gradient { kDataGradient, kWeightGradient, kBiasGradient };
};

// The parameters of FullyConnected and of SoftmaxOutput, under the same names and with the same
// meaning; the scores are data * weight^T + bias. softmax_output_param.h describes the gradient.
struct FcSoftmaxOutputParam {
  int64_t num_hidden = 0;
  bool no_bias = false;
  double grad_scale = 1.0;
  double ignore_label = -1.0;
  bool use_ignore = false;
  Normalization normalization = Normalization::kNull;

  static void Declare(ParamDeclaration<FcSoftmaxOutputParam>& d) {
    d.Field("num_hidden", &FcSoftmaxOutputParam::num_hidden).Required().Min(1).Doc("classes");
    d.Field("no_bias", &FcSoftmaxOutputParam::no_bias).Doc("whether there is no bias input");
    d.Field("grad_scale", &FcSoftmaxOutputParam::grad_scale).Doc("factor of the gradient");
    d.Field("ignore_label", &FcSoftmaxOutputParam::ignore_label)
        .Doc("the label of rows without a gradient, with use_ignore");
    d.Field("use_ignore", &FcSoftmaxOutputParam::use_ignore).Doc("whether ignore_label counts");
    d.Enum("normalization", &FcSoftmaxOutputParam::normalization, kNormalizationNames)
        .Doc("what the gradient is divided by: nothing, the rows, or the labels that count");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_OUTPUT_PARAM_H_
