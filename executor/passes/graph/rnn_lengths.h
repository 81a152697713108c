#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_

// The graph pass "rnn_lengths".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Where a SequenceMask is all that uses a _rnn_layer (or a SwapAxis of the batch's and time's axes
// between them), as Unroll with valid_length makes it, gives the layer the lengths in its place:
// the layer then leaves the padding out of its work. Returns nullopt if there is nothing to do.
absl::StatusOr<std::optional<GraphRewrite>> MoveLengthsIntoRNNLayers(const GraphFacts& facts,
                                                                     const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_LENGTHS_H_
