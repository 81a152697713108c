#ifndef COOPER_SYMBOL_OPS_NN_FULLY_CONNECTED_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_FULLY_CONNECTED_PARAM_H_

// Arrays and parameters of FullyConnected and of _fully_connected_transposed, its variant without a
// gradient whose weight is (input_dim, num_hidden): a graph pass of the executor builds that one
// for constant weights. The schemas are in fully_connected.cc. MXNet:
// src/operator/nn/fully_connected.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, ...) with flatten, else (..., input_dim), weight (num_hidden,
// input_dim), bias (num_hidden,) or (num_hidden, 1) unless no_bias. The output is (batch_size,
// num_hidden) or (..., num_hidden). All arrays have one dtype.
struct FullyConnectedArrays {
  enum Input { kData, kWeight, kBias };
};
// Arrays of the gradients. With data as a matrix of rows: data's gradient is ograd * weight,
// weight's ograd^T * data, bias' the sum of the rows of ograd. Each of the first two gradients
// reads one factor only. Gradients that are not requested are not computed.
struct FullyConnectedGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad, kBiasGrad };
};

// output = data * weight^T + bias. Costs 2 FLOPs per element of data and row of weight.
struct FullyConnectedParam {
  int64_t num_hidden = 0;
  // Whether there is no input bias.
  bool no_bias = false;
  // Whether all axes of data but the first are taken as one; a vector then has input_dim 1.
  // Otherwise the product is over the last axis alone.
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
