#ifndef COOPER_SYMBOL_OPS_FUSED_BLOCKED_BATCH_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_BLOCKED_BATCH_NORM_PARAM_H_

// Parameters of _blocked_batch_norm: BatchNorm of images with blocked channels (blocked_shape.h).
// Symbol files do not contain it: the graph pass blocked_channels of the executor builds it from a
// BatchNorm and, optionally, the relu after it. The schema is in blocked_batch_norm.cc.

#include <cstdint>

#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The inputs of BatchNorm's gradient, and beta. With relu the gradient needs beta to find where the
// output was 0, since the output is not kept.
struct BlockedBatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kBeta, kMovingMean, kMovingVar };
};

// Parameters of _blocked_batch_norm: those of BatchNorm, of which `axis` has no effect, and the
// layout. data and output are (batch_size, channels / block, spatial..., block); all other arrays
// are (channels,), in the order of the channels. One dtype.
struct BlockedBatchNormParam : BatchNormParam {
  int64_t block = 8;
  bool relu = false;

  static void Declare(ParamDeclaration<BlockedBatchNormParam>& d) {
    DeclareFields(d);
    d.Field("block", &BlockedBatchNormParam::block).Min(1).Doc("channels that lie side by side");
    d.Field("relu", &BlockedBatchNormParam::relu)
        .Doc("whether output is 0 where it would be negative");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_BLOCKED_BATCH_NORM_PARAM_H_
