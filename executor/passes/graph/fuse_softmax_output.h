#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_

// The graph pass "softmax_output".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Makes one _fc_softmax_output of a SoftmaxOutput and the FullyConnected that alone feeds it, a
// classifier over a vocabulary for one. It works on blocks of rows: the gradient of the scores, as
// large as the output, is never there as a whole, and rows whose label is ignored are left out of
// the backward products. Returns nullopt if there is none. Those with smooth_alpha, out_grad or
// multi_output are left alone, and so are 16-bit floats, labels that are probabilities, and data of
// other than two axes.
absl::StatusOr<std::optional<GraphRewrite>> FuseSoftmaxOutput(const GraphFacts& facts,
                                                              const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FUSE_SOFTMAX_OUTPUT_H_
