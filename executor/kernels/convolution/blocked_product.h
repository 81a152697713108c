#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_

// Convolutions by oneDNN on float32 arrays with blocked channels, (batch, channels / block,
// spatial..., block): the forward product and the two gradients. Weights are plain, or packed for
// one of the products. The kernels of _blocked_convolution and _fused_convolution run these
// products; the plain layouts of Convolution use convolution_product.h.
//
// BlockedProduct is the interface. onednn_product.h has its implementations by oneDNN's primitives,
// winograd_product.h Winograd's algorithm, and merged_groups.h one that merges small groups. This
// header does not include oneDNN's.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "executor/program/blocked_layout.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Returns the number of channels per block in the layout that oneDNN's convolutions prefer on this
// processor: 16 with AVX-512, otherwise 8. Constant during the life of the process. Thread-safe.
int OneDnnChannelBlock();

// Returns kUnimplemented, with both numbers, if `block` is not OneDnnChannelBlock(): the parameter
// of a blocked operator may name the blocks of another processor.
absl::Status CheckChannelBlock(int64_t block);

// Returns the plain shape (batch, channels, spatial...) of an image with blocked channels: (2, 4,
// 7, 7, 16) gives (2, 64, 7, 7).
Shape PlainImage(const Shape& shape);

// One of the three products of a convolution, compiled for its shapes and options. Immutable after
// Make, so a kernel's state holds it and several runs use it at the same time.
//
//   // When the node is bound:
//   COOPER_ASSIGN_OR_RETURN(state->product, BlockedProduct::Make(shape, {.bias = true}));
//   // In each run:
//   state.product->Run({.image = x, .weight = w, .map = y, .bias = b}, workspace);
class BlockedProduct {
 public:
  // The array that is computed from the other two: the output, the gradient of the data, and the
  // gradient of the weight.
  enum class Result { kMap, kImage, kWeight };
  // Options of Make. The default is the forward product of blocked arrays with a plain weight.
  struct Options {
    Result result = Result::kMap;
    // Whether the image is plain, (batch, channels, spatial...), as the input of a network is, with
    // fewer channels than a block.
    bool plain_image = false;
    // For kMap only, in the order of application: `scales` multiplies each filter of the weight by
    // a number, `bias` adds a number to each filter's results, `add` (below) adds the previous
    // contents, `relu` replaces negative results by 0, and `clip` limits results to [a_min, a_max].
    // `scales` needs a plain weight: a packed weight has been scaled before it was packed.
    bool bias = false;
    bool scales = false;
    bool relu = false;
    bool clip = false;
    float a_min = 0, a_max = 0;
    bool add = false;  // adds to the previous contents of the result's array
    // For kMap only: whether the weight has the layout packing() rather than the plain one, and the
    // algorithm that it is packed for.
    bool packed_weight = false;
    ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::kDirect;
  };

  // Compiles a product. `shape` has the plain extents. Slow, because oneDNN generates machine code,
  // so kernels call it when a node is bound. Thread-safe.
  //
  // Errors: kUnimplemented if there is no code for the convolution, or if an array has no
  // elements.
  static absl::StatusOr<std::unique_ptr<const BlockedProduct>> Make(const ConvolutionProduct& shape,
                                                                    const Options& options);
  // Returns whether oneDNN has an optimised implementation for this processor, rather than its
  // reference code, for the convolution itself or with groups merged (merged_groups.h). Graph
  // passes ask by BlockedLayout::has_convolution before they block the channels of a node. It
  // describes primitives without compiling them.
  static bool IsFast(const ConvolutionProduct& shape, const Options& options);
  virtual ~BlockedProduct() = default;

  // The size of the workspace that Run needs, in bytes. It depends on shapes, options and, for some
  // products, on NumThreads() at the time of Make.
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // The arrays of one run. The result's array is written, the others are read. `image` and `map`
  // have blocked channels (`image` not with options.plain_image). `weight` is (filters, channels /
  // groups, kernel...), or packed with options.packed_weight; a weight that is a result is always
  // plain.
  struct Arrays {
    float* image = nullptr;
    float* weight = nullptr;
    float* map = nullptr;
    const float* bias = nullptr;    // (filters,) where options.bias
    const float* scales = nullptr;  // (filters,) where options.scales
  };
  // Computes the result on several threads. Thread-safe if each call has a workspace of its own, of
  // workspace_bytes() bytes. Results do not depend on the number of threads. A failure of oneDNN
  // ends the program (ExecuteOneDnn).
  virtual void Run(const Arrays& arrays, char* workspace) const = 0;

  // Returns the layout of the weight that the product computes with, as the operator that produces
  // it; nullopt if WeightPacking cannot express it, and for results other than kMap.
  virtual std::optional<WeightPacking> packing() const { return std::nullopt; }

 protected:
  int64_t workspace_bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
