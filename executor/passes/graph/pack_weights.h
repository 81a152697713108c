#ifndef COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_

// The graph passes "winograd" and "packed_weights".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Selects Winograd's algorithm for convolutions of blocked images with constant weights where the
// kernels say that it is faster: for 3 x 3 windows with stride 1. The weights are transformed for
// it. Rounding errors are several times those of direct convolution, and an infinity or NaN spreads
// to a few more elements. Returns nullopt if there is no such convolution, and for graphs with
// gradients.
absl::StatusOr<std::optional<GraphRewrite>> UseWinograd(const GraphFacts& facts,
                                                        const CanRunFn& can_run);

// Replaces the constant weights of convolutions of blocked images by packed ones, which would
// otherwise be packed in every run. A BatchNorm that is fused into the convolution is folded into
// its weight and bias if all of its arrays are constants too. FoldConstants then computes the new
// arrays once. Returns nullopt if there is nothing to pack, and for graphs with gradients.
absl::StatusOr<std::optional<GraphRewrite>> PackWeights(const GraphFacts& facts,
                                                        const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PACK_WEIGHTS_H_
