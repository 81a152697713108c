#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_

// The graph pass "folded_batch_norms".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Folds a BatchNorm after a Convolution or FullyConnected into the weight and bias if all inputs of
// both but the data are constants: in prediction it scales and shifts each filter. FoldConstants
// then computes the new weights once. Convolutions of blocked images have been handled before this
// pass (BlockChannels, PackWeights). Returns nullopt if there is nothing to fold, and for graphs
// with gradients.
absl::StatusOr<std::optional<GraphRewrite>> FoldBatchNorms(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_
