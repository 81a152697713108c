#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_PRODUCT_H_

// Winograd's algorithm (winograd_tile.h) on images with blocks of 8 channels for AVX2, and of 16
// for AVX-512. oneDNN has the algorithm for AVX-512 only; it is slower there except for a few tiles
// of many channels (SuitsOneDnnWinograd). BlockedProduct::Make uses both.

#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_geometry.h"

namespace cooper {

// Returns whether cooper's Winograd product is expected to be faster than the direct product and
// than oneDNN's Winograd. It needs AVX2 for blocks of 8 and AVX-512 for blocks of 16, at most half
// of the direct product's multiplications, which maps that fill few of their tiles do not allow,
// and at least 4 tiles in the batch, or 8 with AVX-512 and a large weight. On one thread it takes
// 0.4 to 0.75 of the direct product's time. Depends on the shape, the processor and the program's
// compilation target alone.
bool SuitsWinogradTiles(const ConvolutionProduct& shape);

// Returns the product for the forward result of images with blocks of `block` channels, 8 or 16. It
// runs on processors with AVX2 or AVX-512, respectively, which is not checked. Its weight must be
// packed as packing() says before it runs. `options` may ask for a bias, relu and add. A tile's
// results are computed in one order, whatever the number of threads and of images.
//
// Errors: kUnimplemented for other options, for other windows than 3 x 3 over two spatial axes with
// stride and dilation 1, for groups, and unless the block divides the channels and 16 the filters.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWinogradProduct(
    const ConvolutionProduct& shape, int block, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_PRODUCT_H_
