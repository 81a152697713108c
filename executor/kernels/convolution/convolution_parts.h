#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PARTS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PARTS_H_

// How many images and filters of a convolution oneDNN gets at a time, and which convolutions use
// its Winograd algorithm. All answers depend on the shapes alone: they decide which code oneDNN
// chooses, and so the last bits of results, which must not depend on the number of threads.
//
// The thresholds are from the 3 x 3 layers of ResNets and DenseNet-121 at batch 1, 4 and 8, two
// threads of an Intel Xeon with AVX-512.

#include <cstdint>

#include "executor/kernels/convolution/convolution_product.h"

namespace cooper {

// Returns whether a part has two images. oneDNN then has faster code for small maps, and for
// Winograd's algorithm (tiles of 4 x 4 results rather than 2 x 2). The batch is at least 8, so that
// four threads have work, and even, because a part of one image would want another layout of the
// weights.
inline bool TakesPairs(const ConvolutionProduct& shape) {
  return shape.batch >= 8 && shape.batch % 2 == 0;
}

// Returns whether a map has so few elements that a part is bound by reading its weight.
inline bool HasSmallMap(const ConvolutionProduct& shape) { return shape.g.columns() < 100; }

// Returns the slices that the filters are cut into for Winograd's algorithm. Each slice transforms
// the image again, so that there are two, for two threads, only if there is one image.
inline int64_t WinogradSlices(const ConvolutionProduct& shape) { return shape.batch == 1 ? 2 : 1; }

// Returns whether windows are 3 x 3 over two spatial axes, with stride and dilation 1, which
// Winograd's algorithm needs.
inline bool HasDense3x3Windows(const WindowGeometry& g) {
  for (int axis : {1, 2}) {
    if (g.kernel[axis] != 3 || g.stride[axis] != 1 || g.dilate[axis] != 1) return false;
  }
  return g.kernel[0] == 1 && g.in[0] == 1 && g.out[0] == 1 && g.pad[0] == 0;
}

// Returns whether a convolution that cooper's Winograd product does not suit (winograd_product.h)
// should use oneDNN's. It makes 2.25 or 4 times fewer multiplications for 3 x 3 windows, but it
// transforms images and results, which few filters do not repay, and its weight is 1.8 or 4 times
// as large, which small maps do not repay.
inline bool SuitsOneDnnWinograd(const ConvolutionProduct& shape) {
  const int64_t filters = shape.filters / WinogradSlices(shape);
  return HasDense3x3Windows(shape.g) && shape.groups == 1 && filters >= 32 &&
         shape.filters * shape.g.channels >= 4096 &&
         (!HasSmallMap(shape) || (shape.filters >= 256 && !TakesPairs(shape)));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PARTS_H_
