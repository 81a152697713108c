#ifndef COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_BLOCKED_LAYOUT_H_
#define COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_BLOCKED_LAYOUT_H_

// Images whose channels lie in blocks (symbol/ops/nn/blocked_shape.h): what the kernels that this
// program has linked want of them.

#include <cstdint>

#include "ndarray/shape.h"
#include "symbol/ops/nn/convolution_param.h"

namespace cooper {

struct BlockedLayout {
  // How many channels a block has, at least 1.
  int64_t block = 0;
  // Whether there is fast code for a convolution of plain shapes (batch, channels, spatial...), and
  // if asked for its gradients. `plain_data`: only the output has blocks.
  bool (*has_convolution)(const ConvolutionParam& param, const Shape& data, const Shape& output,
                          bool plain_data, bool gradients) = nullptr;
};

// Null if no kernel is linked that gains by blocks.
const BlockedLayout* GetBlockedLayout();

// Called once, from a static initializer of what brings such kernels.
void RegisterBlockedLayout(const BlockedLayout* (*layout)());

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_BLOCKED_LAYOUT_H_
