#ifndef COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_H_
#define COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_H_

// Reads the graph that a call of _sg_mkldnn_conv or _sg_mkldnn_fully_connected holds, for its rules
// and for the graph pass that replaces it (executor/passes/graph/expand_int8_layers.h).

#include <limits>

#include "absl/status/statusor.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// The nodes of a fused layer, in their order: the layer, BatchNorm, the addition of an array and an
// activation. Refers to the call, which must outlive it.
struct Int8Layer {
  const Node* layer = nullptr;       // Convolution or FullyConnected
  const Node* batch_norm = nullptr;  // null: none
  bool sum = false;
  // The activation: values below 0 are multiplied by `negative` (0 for relu, -1 for abs), then
  // those above `limit` become it.
  double negative = 1;
  double limit = std::numeric_limits<double>::infinity();
  bool is_uint8 = false;  // whether 8-bit outputs have no sign
};

// Returns the parts of a call that holds one graph. Fails with kInvalidArgument for a graph of
// another form, and with kUnimplemented, naming the node, for an activation that MXNet does not
// compute with 8-bit integers.
absl::StatusOr<Int8Layer> ReadInt8Layer(const OpCall& call);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_H_
