#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_

// The graph pass "rnn_lengths".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Removes a SequenceMask that alone uses a _rnn_layer, possibly through a SwapAxis of the axes of
// batch and time, as Unroll with valid_length builds it, and passes its lengths to the layer, which
// then skips the padding. Returns nullopt if there is nothing to remove. `can_run` says whether a
// node has a kernel: without one for layers with lengths the graph stays as it is. O(nodes) time.
// Errors: those of making nodes, which only an invalid graph has.
absl::StatusOr<std::optional<GraphRewrite>> MoveLengthsIntoRNNLayers(const GraphFacts& facts,
                                                                     const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_
