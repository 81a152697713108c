#ifndef COOPER_EXECUTOR_PASSES_GRAPH_PADDED_CHANNELS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_PADDED_CHANNELS_H_

// Chooses the images whose channels BlockChannels pads to whole blocks.

#include <cstdint>
#include <vector>

#include "executor/passes/graph/graph_facts.h"

namespace cooper {

// Returns, by position of a node in facts.graph().nodes(), whether output 0 of the node is an image
// whose channels are padded to a multiple of `block`. Such an image is computed by a Convolution of
// one group, perhaps with a BatchNorm, relu, clip or addition after it, and read by Convolutions of
// one group and by nodes of the same kinds. Weights and statistics are constants, so that they are
// padded once; at most a third of the channels are added. Added channels are finite numbers, which
// convolutions multiply by zeros. Nothing is padded in graphs with gradients. Time is linear in the
// size of the graph, times the longest chain of additions.
std::vector<bool> PaddedImages(const GraphFacts& facts, int64_t block);

// Returns `count`, at least 1, rounded up to a multiple of `block`.
inline int64_t PaddedCount(int64_t count, int64_t block) {
  return (count + block - 1) / block * block;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PADDED_CHANNELS_H_
