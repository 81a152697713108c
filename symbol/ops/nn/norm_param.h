#ifndef COOPER_SYMBOL_OPS_NN_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_NORM_PARAM_H_

// Arrays and parameters of the normalizations without moving statistics: LayerNorm, GroupNorm and
// InstanceNorm (layer_norm.cc), L2Normalization and LRN (l2_normalization.cc). They compute the
// same in training and in prediction, and treat each sample alone, unlike BatchNorm. MXNet:
// src/operator/nn/layer_norm.cc, group_norm.cc, lrn.cc, src/operator/instance_norm.cc,
// l2_normalization.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Arrays of LayerNorm: gamma and beta have data's extent of `axis`, mean and std data's shape with
// 1 there. GroupNorm: (num_groups,) and (batch_size, num_groups). InstanceNorm: (channels,) and
// (batch_size, channels).
struct LayerNormArrays {
  enum Input { kData, kGamma, kBeta };
  enum Output { kOutput, kMean, kStd };
};
// Inputs of the gradients of data, gamma and beta. No gradient flows from mean and std.
struct LayerNormGradientArrays {
  enum Input { kOgrad, kData, kGamma, kMean, kStd };
  enum Output { kDataGrad, kGammaGrad, kBetaGrad };
};

// Parameters of LayerNorm (Ba et al., Layer Normalization, 2016): gamma * (data - mean) / std +
// beta, with std = sqrt(var + eps), over the elements along one axis. The variance is biased:
// divided by the number of elements. mean and std are visible with output_mean_var only.
struct LayerNormParam {
  int64_t axis = -1;
  double eps = 1e-5;
  bool output_mean_var = false;

  static void Declare(ParamDeclaration<LayerNormParam>& d) {
    d.Field("axis", &LayerNormParam::axis).Doc("the axis that is normalized");
    d.Field("eps", &LayerNormParam::eps).Doc("added to the variance before the root");
    d.Field("output_mean_var", &LayerNormParam::output_mean_var)
        .Doc("whether mean and sqrt(var + eps) are outputs");
  }
};

// Parameters of GroupNorm (Wu and He, Group Normalization, 2018): LayerNorm's formula over the
// channels / num_groups channels of each group and their positions. data is (batch_size, channels,
// spatial...) with at least one spatial axis. As in MXNet 1.9.1, gamma and beta have one element
// per group, not per channel; num_groups must divide the channels.
struct GroupNormParam {
  int64_t num_groups = 1;
  double eps = 1e-5;
  bool output_mean_var = false;

  static void Declare(ParamDeclaration<GroupNormParam>& d) {
    d.Field("num_groups", &GroupNormParam::num_groups).Min(1).Doc("groups of channels");
    d.Field("eps", &GroupNormParam::eps).Doc("added to the variance before the root");
    d.Field("output_mean_var", &GroupNormParam::output_mean_var)
        .Doc("whether mean and sqrt(var + eps) are outputs");
  }
};

// Parameters of InstanceNorm (Ulyanov et al., Instance Normalization, 2016): LayerNorm's formula
// over the positions of each channel of each sample. data is as in GroupNorm.
struct InstanceNormParam {
  double eps = 1e-3;

  static void Declare(ParamDeclaration<InstanceNormParam>& d) {
    d.Field("eps", &InstanceNormParam::eps).Doc("added to the variance before the root");
  }
};

// Arrays of L2Normalization: norm is (batch_size,) in mode instance, has data's shape with one
// channel in mode channel, and is (batch_size, channels) in mode spatial.
struct L2NormalizationArrays {
  enum Input { kData };
  enum Output { kOutput, kNorm };
};
// The gradient is (ograd - output * sum(ograd * output)) / norm, with the sum over the elements of
// the norm.
struct L2NormalizationGradientArrays {
  enum Input { kOgrad, kOutput, kNorm };
};

// Parameters of L2Normalization: data / norm, with norm = sqrt(sum of squares + eps). The sum is
// over a sample (instance), over the channels of a position (channel), or over the positions of a
// channel (spatial). The last two need at least three axes.
struct L2NormalizationParam {
  enum Mode : uint8_t { kInstance, kChannel, kSpatial };

  double eps = 1e-10;
  Mode mode = kInstance;

  static void Declare(ParamDeclaration<L2NormalizationParam>& d) {
    d.Field("eps", &L2NormalizationParam::eps).Doc("added to the sum of squares before the root");
    d.Enum("mode", &L2NormalizationParam::mode,
           {{"instance", kInstance}, {"channel", kChannel}, {"spatial", kSpatial}})
        .Doc(
            "what a norm is taken over: a sample, the channels of a position, or a channel's "
            "positions");
  }
};

// Arrays of LRN: data (batch_size, channels, height, width); output and the hidden norm, the sum in
// parentheses below, have data's shape.
struct LrnArrays {
  enum Input { kData };
  enum Output { kOutput, kNorm };
};
// Inputs of the gradient of LRN, which reads data and the norm.
struct LrnGradientArrays {
  enum Input { kOgrad, kData, kNorm };
};

// Parameters of LRN, local response normalization (Krizhevsky et al., ImageNet Classification with
// Deep Convolutional Neural Networks, 2012):
//
//   data / (knorm + alpha / nsize * sum of squares of nsize neighbouring channels)^beta
//
// The window is centered on the channel and cut at the first and the last one; the divisor nsize
// stays. nsize must be odd.
struct LrnParam {
  double alpha = 1e-4;
  double beta = 0.75;
  double knorm = 2.0;
  int64_t nsize = 0;

  static void Declare(ParamDeclaration<LrnParam>& d) {
    d.Field("alpha", &LrnParam::alpha).Doc("factor of the sum of squares");
    d.Field("beta", &LrnParam::beta).Doc("power of the divisor");
    d.Field("knorm", &LrnParam::knorm).Doc("what the sum of squares is added to");
    d.Field("nsize", &LrnParam::nsize).Required().Min(1).Doc("channels of a window; odd");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_NORM_PARAM_H_
