#ifndef COOPER_SYMBOL_OPS_NN_BLOCKED_BATCH_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_BLOCKED_BATCH_NORM_PARAM_H_

#include <cstdint>

#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct BlockedBatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kBeta, kMovingMean, kMovingVar };
};

// Parameters of _blocked_batch_norm.
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

#endif  // COOPER_SYMBOL_OPS_NN_BLOCKED_BATCH_NORM_PARAM_H_
