#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_

// The graph pass "rnn_layers".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Makes one _rnn_layer of the steps of each recurrent layer that was unrolled: LSTM, GRU and plain
// cells, from symbol/rnn or from a file. The products of all steps' data become one, the cells are
// computed in one loop, and the gradient of a weight is one product over all steps. Steps whose
// data depends on earlier ones (a decoder that is fed its own output) are put together each for
// itself. Returns nullopt if there is nothing to do.
absl::StatusOr<std::optional<GraphRewrite>> FuseRNNLayers(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FUSE_RNN_LAYERS_H_
