#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_

// The graph pass "rnn_layers".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Replaces the unrolled steps of each recurrent layer by one _rnn_layer: LSTM, GRU and plain cells,
// built by symbol/rnn or loaded from a file. The products of the data of all steps become one, one
// loop computes the cells, and the gradient of a weight is one product over all steps. Steps whose
// data depend on earlier steps, as in a decoder that is fed its own output, are fused one by one.
// Returns nullopt if there is nothing to fuse.
absl::StatusOr<std::optional<GraphRewrite>> FuseRNNLayers(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_
