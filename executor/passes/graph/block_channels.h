#ifndef COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_

// The graph pass "blocked_channels".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Lets images lie as fast convolutions want them: with their channels in blocks, (batch_size,
// channels / block, spatial..., block). Convolution and BatchNorm become operators that work on
// such images, Pooling one with its channels last; what works on each element, and Concat of
// channels, stays what it is. A relu behind a BatchNorm becomes a part of it; where no gradient is
// asked for, a convolution takes in BatchNorm, an addition and relu or clip behind it. Images are
// brought into the other order where something else makes or takes them, and nowhere in between.
// Returns nullopt if there is no convolution that gains, or no kernel for blocks is linked
// (executor/program/blocked_layout.h).
absl::StatusOr<std::optional<GraphRewrite>> BlockChannels(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_
