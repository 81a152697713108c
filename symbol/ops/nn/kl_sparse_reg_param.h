#ifndef COOPER_SYMBOL_OPS_NN_KL_SPARSE_REG_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_KL_SPARSE_REG_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, units), moving_avg (units,), an auxiliary state.
struct KLSparseRegArrays {
  enum Input { kData, kMovingAvg };
};
struct KLSparseRegGradientArrays {
  enum Input { kOgrad, kData, kMovingAvg };
};

struct KlSparseRegParam {
  double sparseness_target = 0.1;
  double penalty = 0.001;
  double momentum = 0.9;

  static void Declare(ParamDeclaration<KlSparseRegParam>& d) {
    d.Field("sparseness_target", &KlSparseRegParam::sparseness_target)
        .Min(0)
        .Max(1)
        .Doc("the mean activation that costs nothing");
    d.Field("penalty", &KlSparseRegParam::penalty).Doc("factor of the added gradient");
    d.Field("momentum", &KlSparseRegParam::momentum)
        .Min(0)
        .Max(1)
        .Doc("weight of the old moving average");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_KL_SPARSE_REG_PARAM_H_
