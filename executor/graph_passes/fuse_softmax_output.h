#ifndef COOPER_EXECUTOR_GRAPH_PASSES_FUSE_SOFTMAX_OUTPUT_H_
#define COOPER_EXECUTOR_GRAPH_PASSES_FUSE_SOFTMAX_OUTPUT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/graph_passes/graph_facts.h"
#include "executor/graph_passes/graph_pass.h"

namespace cooper {

// Makes one _fc_softmax_output of a SoftmaxOutput and the FullyConnected that alone feeds it, a
// classifier over a vocabulary for one. It works on blocks of rows that stay in cache: the gradient
// of the scores, as large as the output, is never there as a whole, and rows whose label is ignored
// cost nothing in the backward pass. Returns nullopt if there is none, or if labels are
// probabilities or positions (multi_output) or the gradient is smoothed.
absl::StatusOr<std::optional<GraphRewrite>> FuseSoftmaxOutput(const GraphFacts& facts,
                                                              const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_GRAPH_PASSES_FUSE_SOFTMAX_OUTPUT_H_
