#ifndef COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Makes _prepared_rnn of layers of lstm and gru whose weights are constants: they get packed ones,
// which prediction reads from beginning to end, and which FoldConstants then packs once. Layers of
// one kind above each other become one node, whose threads take a sequence through one layer beside
// the next (executor/kernels/rnn/prepared_rnn.cc).
absl::StatusOr<std::optional<GraphRewrite>> PackRNNWeights(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PACK_RNN_WEIGHTS_H_
