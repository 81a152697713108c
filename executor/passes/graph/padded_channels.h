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
// one group and by nodes of the same kinds. The images on the other side of these convolutions have
// whole blocks too, or fewer channels than a block, as the network's input. Weights and statistics
// are constants, so that they are padded once; at most a third of the channels are added.
// Convolutions multiply added channels by zeros: they change no result if the data are finite.
// Nothing is padded in graphs with gradients. Takes O(nodes) time for each round in which images
// turn out to have other readers or operands.
std::vector<bool> PaddedImages(const GraphFacts& facts, int64_t block);

// Returns `count`, at least 1, rounded up to a multiple of `block`.
inline int64_t PaddedCount(int64_t count, int64_t block) {
  return (count + block - 1) / block * block;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_PADDED_CHANNELS_H_
