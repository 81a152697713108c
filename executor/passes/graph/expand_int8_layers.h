#ifndef COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_INT8_LAYERS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_INT8_LAYERS_H_

// Replaces int8 layers that MXNet fused for oneDNN (symbol/ops/fused/int8_layer_param.h), for which
// there are no kernels, by two nodes:
//
//   _sg_mkldnn_conv             _quantized_weight, _int8_convolution
//   _sg_mkldnn_fully_connected  _quantized_weight, _int8_fully_connected
//
// Where weights are constants, FoldConstants computes the first node once.

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns whether ExpandInt8Layers replaces the node.
bool IsInt8Layer(const Node& node);

// Returns the graph with the int8 layers replaced. The second node keeps the name, and both keep
// hidden attributes. Time is linear in the size of the graph, so that a caller first looks whether
// there is such a layer.
absl::StatusOr<std::optional<GraphRewrite>> ExpandInt8Layers(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_INT8_LAYERS_H_
