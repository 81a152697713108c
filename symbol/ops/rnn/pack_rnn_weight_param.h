#ifndef COOPER_SYMBOL_OPS_RNN_PACK_RNN_WEIGHT_PARAM_H_
#define COOPER_SYMBOL_OPS_RNN_PACK_RNN_WEIGHT_PARAM_H_

// Weights of recurrent layers in the order in which prediction reads them: the weight (gates *
// state_size, columns) becomes (panels, columns, gates, kPackedRNNFeatures). A panel has
// kPackedRNNFeatures features of the state; missing features of the last panel are 0.

#include <cstdint>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Features of the state in a panel.
inline constexpr int64_t kPackedRNNFeatures = 16;

// Returns the packed shape of a weight (gates * state_size, columns).
inline PartialShape PackedRNNWeightShape(int64_t gates, int64_t state_size, int64_t columns) {
  return {ExtentSum(state_size, kPackedRNNFeatures - 1) / kPackedRNNFeatures, columns, gates,
          kPackedRNNFeatures};
}

struct PackRNNWeightParam {
  int num_gates = 0;

  static void Declare(ParamDeclaration<PackRNNWeightParam>& d) {
    d.Field("num_gates", &PackRNNWeightParam::num_gates)
        .Required()
        .Min(1)
        .Doc("gates whose weights are behind each other");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_PACK_RNN_WEIGHT_PARAM_H_
