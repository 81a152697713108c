#ifndef COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_PROJECTION_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_PROJECTION_H_

// Replaces RNN nodes with projection_size, for which there is no kernel, by the steps of their
// cells: products, gates and projections. They run on every device and have gradients.

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Returns the graph with the nodes replaced; nullopt if there is none. Nodes that use sequence
// lengths, clip a NaN of the cell state, or have no data or more than 2^16 steps, remain: preparing
// their kernel fails. kResourceExhausted, naming the node, if its steps are more than 2^22 nodes.
// O(steps x layers) nodes, which keep the hidden attributes of the RNN node.
//
// This is no optional pass, since there is no kernel with a projection.
absl::StatusOr<std::optional<GraphRewrite>> ExpandProjection(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_PROJECTION_H_
