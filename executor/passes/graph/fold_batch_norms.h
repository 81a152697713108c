#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_

// The graph pass "folded_batch_norms".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Takes a BatchNorm behind a Convolution or FullyConnected into the weight and bias, where all of
// them are constants: what it does in prediction to each filter is a factor and a summand.
// FoldConstants then computes them once. Convolutions of images in blocks take theirs in before
// (BlockChannels, PackWeights).
absl::StatusOr<std::optional<GraphRewrite>> FoldBatchNorms(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FOLD_BATCH_NORMS_H_
