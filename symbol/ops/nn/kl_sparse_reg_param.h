#ifndef COOPER_SYMBOL_OPS_NN_KL_SPARSE_REG_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_KL_SPARSE_REG_PARAM_H_

// Arrays and parameters of IdentityAttachKLSparseReg, which penalizes units that are active too
// often (sparse autoencoders). The schema is in kl_sparse_reg.cc. MXNet:
// src/operator/identity_attach_KL_sparse_reg.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, units), the output of a sigmoid, and moving_avg (units,), an auxiliary
// state. The output is data.
struct KLSparseRegArrays {
  enum Input { kData, kMovingAvg };
};
// Inputs of the gradient, which also updates moving_avg.
struct KLSparseRegGradientArrays {
  enum Input { kOgrad, kData, kMovingAvg };
};

// The backward pass updates avg = momentum * avg + (1 - momentum) * mean of data over the batch,
// for each unit, and returns the gradient
//
//   ograd + penalty * ((1 - sparseness_target) / (1 - avg) - sparseness_target / avg)
//
// The added term is the derivative of the Kullback-Leibler divergence between the target and the
// average. As in MXNet it is not divided by the batch size. An average of 0 or 1 gives infinity.
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
