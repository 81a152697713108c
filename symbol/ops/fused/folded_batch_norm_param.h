#ifndef COOPER_SYMBOL_OPS_FUSED_FOLDED_BATCH_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_FOLDED_BATCH_NORM_PARAM_H_

// Arrays and parameters of _folded_batch_norm, which computes the weight and bias of a convolution
// that is equivalent in prediction to a convolution followed by a BatchNorm. Symbol files do not
// contain it: the graph pass of the executor that folds BatchNorms inserts it where all inputs are
// constants, so it runs once. The schema is in folded_batch_norm.cc.

#include <cmath>

#include "ndarray/base/host_device.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The effect of a BatchNorm in prediction on a filter of the convolution before it: multiplication
// by `scale` and addition of `shift`. Used by kernels on both devices; a filter with var + eps = 0
// gets the scale 0 instead of infinity.
struct FilterAffine {
  float scale, shift;

  COOPER_HOST_DEVICE FilterAffine(double eps, float gamma, float beta, float mean, float var) {
    const float sum = var + static_cast<float>(eps);
    scale = gamma * (sum == 0 ? 0 : 1 / std::sqrt(sum));
    shift = beta - mean * scale;
  }
};

// Parameters of _folded_batch_norm: eps and fix_gamma of the BatchNorm, and no_bias of the
// convolution.
//
//   scaled_weight = weight * scale,   shift = bias * scale + beta - moving_mean * scale
//   scale = gamma / sqrt(moving_var + eps), with gamma 1 if fix_gamma
struct FoldedBatchNormParam {
  double eps = 1e-3;
  bool fix_gamma = true;
  bool no_bias = false;

  static void Declare(ParamDeclaration<FoldedBatchNormParam>& d) {
    d.Field("eps", &FoldedBatchNormParam::eps).Doc("added to the variance before the root");
    d.Field("fix_gamma", &FoldedBatchNormParam::fix_gamma).Doc("whether gamma is 1");
    d.Field("no_bias", &FoldedBatchNormParam::no_bias).Doc("whether the convolution has no bias");
  }
};

// Inputs and outputs. kBias exists only if no_bias is false. weight and scaled_weight have one
// shape with filters on the first axis; bias is (num_filter,) or (num_filter, 1), all others
// (num_filter,).
struct FoldedBatchNormArrays {
  enum Input { kWeight, kGamma, kBeta, kMovingMean, kMovingVar, kBias };
  enum Output { kScaledWeight, kShift };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_FOLDED_BATCH_NORM_PARAM_H_
