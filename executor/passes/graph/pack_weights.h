#ifndef COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_

// The graph passes "winograd" and "packed_weights".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Computes convolutions of images in blocks whose weight is a constant by Winograd's algorithm,
// where that pays: of 3 x 3 windows that are not apart, with many channels. Their weights are
// transformed for it. Errors of rounding are several times as large as those of other orders of
// summation, and what is not finite reaches a few elements further.
absl::StatusOr<std::optional<GraphRewrite>> UseWinograd(const GraphFacts& facts,
                                                        const CanRunFn& can_run);

// Gives convolutions of images in blocks a weight that is packed as they read it, where it is a
// constant: it would be packed in every run else. A BatchNorm that has become part of the
// convolution goes into its weight and bias, if all of its arrays are constants too. FoldConstants
// then computes them once.
absl::StatusOr<std::optional<GraphRewrite>> PackWeights(const GraphFacts& facts,
                                                        const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_
