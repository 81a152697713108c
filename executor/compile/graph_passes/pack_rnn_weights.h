#ifndef COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_PACK_RNN_WEIGHTS_H_
#define COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_PACK_RNN_WEIGHTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/compile/graph_passes/graph_facts.h"
#include "executor/compile/graph_passes/graph_pass.h"

namespace cooper {

// Gives layers of lstm and gru whose weights are constants packed ones, which the steps of
// prediction read from beginning to end (_prepared_rnn_layer). FoldConstants then packs them once.
absl::StatusOr<std::optional<GraphRewrite>> PackRNNWeights(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_PACK_RNN_WEIGHTS_H_
