#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_

// The graph pass "softmax_output".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Fuses a SoftmaxOutput and the FullyConnected that it alone uses, such as a classifier over a
// vocabulary, into one _fc_softmax_output. It works on blocks of rows, so the gradient of the
// scores, which is as large as the output, never exists as a whole, and the backward products skip
// rows with an ignored label. Returns nullopt if there is nothing to fuse. Not fused are nodes with
// smooth_alpha, out_grad or multi_output, 16-bit floats, labels that are probabilities, and data
// that do not have two axes.
absl::StatusOr<std::optional<GraphRewrite>> FuseSoftmaxOutput(const GraphFacts& facts,
                                                              const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_
