#ifndef COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_

// The graph pass "blocked_channels".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Converts images to the layout of fast convolutions, with channels in blocks: (batch_size,
// channels / block, spatial..., block). Convolution and BatchNorm become operators on blocked
// images, Pooling one with channels last; element-wise operators and Concat along channels stay the
// same. A relu after a BatchNorm is fused into it. Without gradients, a convolution also fuses the
// BatchNorm, the addition, and the relu or clip after it, and channels between convolutions with
// constant weights are padded to whole blocks (padded_channels.h). Layout conversions are inserted
// only where other operators produce or use an image. Returns nullopt if no convolution gains, or
// if no kernel for blocked images is linked (executor/program/blocked_layout.h).
absl::StatusOr<std::optional<GraphRewrite>> BlockChannels(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_BLOCK_CHANNELS_H_
