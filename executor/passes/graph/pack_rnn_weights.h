#ifndef COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Replaces lstm and gru layers with constant weights by _prepared_rnn, whose weights are packed in
// the order in which prediction reads them. FoldConstants then packs them once. Consecutive layers
// of one kind become one node, whose threads can compute several layers at a time
// (executor/kernels/rnn/prepared_rnn.cc). Returns nullopt if there is nothing to pack, and for
// graphs with gradients.
absl::StatusOr<std::optional<GraphRewrite>> PackRNNWeights(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_
