#ifndef COOPER_SYMBOL_OPS_NN_FULLY_CONNECTED_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_FULLY_CONNECTED_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, ...) with flatten, else (..., input_dim), weight (num_hidden,
// input_dim), bias (num_hidden,) or (num_hidden, 1) unless no_bias.
struct FullyConnectedArrays {
  enum Input { kData, kWeight, kBias };
};
struct FullyConnectedGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad, kBiasGrad };
};

struct FullyConnectedParam {
  int64_t num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;

  static void Declare(ParamDeclaration<FullyConnectedParam>& d) {
    d.Field("num_hidden", &FullyConnectedParam::num_hidden)
        .Required()
        .Min(1)
        .Doc("rows of weight: features of the output");
    d.Field("no_bias", &FullyConnectedParam::no_bias).Doc("whether there is no bias input");
    d.Field("flatten", &FullyConnectedParam::flatten)
        .Doc("whether all axes of data but the first are taken as one");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_FULLY_CONNECTED_PARAM_H_
