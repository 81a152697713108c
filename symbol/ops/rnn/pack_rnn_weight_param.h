#ifndef COOPER_SYMBOL_OPS_RNN_PACK_RNN_WEIGHT_PARAM_H_
#define COOPER_SYMBOL_OPS_RNN_PACK_RNN_WEIGHT_PARAM_H_

// The layout of the weights of _prepared_rnn, the kernel of recurrent layers in prediction, and the
// parameters of _pack_rnn_weight, which creates it. The weight (gates * state_size, columns)
// becomes (panels, columns, gates, kPackedRNNFeatures). A panel has kPackedRNNFeatures features of
// the state; missing features of the last panel are 0. A step then reads the weights in memory
// order and computes all gates of a panel in registers. Symbol files do not contain these
// operators: the graph pass packed_rnn_weights of the executor inserts them where weights are
// constants.

#include <cstdint>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Features of the state in a panel: a cache line of float32.
inline constexpr int64_t kPackedRNNFeatures = 16;

// Returns the packed shape of a weight (gates * state_size, columns). columns may be unknown. Its
// rows are those of RNN's weights: all features of gate 0, then of gate 1, and so on.
inline PartialShape PackedRNNWeightShape(int64_t gates, int64_t state_size, int64_t columns) {
  return {ExtentSum(state_size, kPackedRNNFeatures - 1) / kPackedRNNFeatures, columns, gates,
          kPackedRNNFeatures};
}

// Parameters of _pack_rnn_weight, which has the input "weight" and no gradient. num_gates must
// divide its rows.
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
