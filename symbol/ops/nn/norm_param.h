#ifndef COOPER_SYMBOL_OPS_NN_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_NORM_PARAM_H_

// Parameters of the normalizations without moving statistics.

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
struct LayerNormGradientArrays {
  enum Input { kOgrad, kData, kGamma, kMean, kStd };
  enum Output { kDataGrad, kGammaGrad, kBetaGrad };
};

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
struct L2NormalizationGradientArrays {
  enum Input { kOgrad, kOutput, kNorm };
};

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

struct LrnArrays {
  enum Input { kData };
  enum Output { kOutput, kNorm };
};
struct LrnGradientArrays {
  enum Input { kOgrad, kData, kNorm };
};

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
