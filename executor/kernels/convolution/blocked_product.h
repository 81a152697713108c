#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_

// Convolutions by oneDNN on float32 arrays with blocked channels, (batch, channels / block,
// spatial..., block): the forward product and the two gradients. Weights are plain, or packed for
// one of the products.

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
// processor.
int OneDnnChannelBlock();

// Returns kUnimplemented if `block` is not OneDnnChannelBlock().
absl::Status CheckChannelBlock(int64_t block);

// Returns the plain shape (batch, channels, spatial...) of an image with blocked channels.
Shape PlainImage(const Shape& shape);

// One of the three products of a convolution, compiled for its shapes and options.
class BlockedProduct {
 public:
  // The array that is computed from the other two.
  enum class Result { kMap, kImage, kWeight };
  struct Options {
    Result result = Result::kMap;
    // Whether the image is plain, (batch, channels, spatial...), as the input of a network is, with
    // fewer channels than a block.
    bool plain_image = false;
    // For kMap only, in the order of application: `scales` multiplies each filter of the weight by
    // a number, `bias` adds a number to each filter's results, `add` (below) adds the previous
    // contents, `relu` replaces negative results by 0, and `clip` limits results to [a_min, a_max].
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

  // Compiles a product. Errors: kUnimplemented if oneDNN has no code for the convolution, or if an
  // array has no elements.
  static absl::StatusOr<std::unique_ptr<const BlockedProduct>> Make(const ConvolutionProduct& shape,
                                                                    const Options& options);
  // Returns whether oneDNN has an optimised implementation for this processor, rather than its
  // reference code, for the convolution itself or with groups merged (merged_groups.h).
  static bool IsFast(const ConvolutionProduct& shape, const Options& options);
  virtual ~BlockedProduct() = default;

  // The size of the workspace that Run needs.
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // The arrays of one run. The result's array is written, the others are read.
  struct Arrays {
    float* image = nullptr;
    float* weight = nullptr;
    float* map = nullptr;
    const float* bias = nullptr;    // (filters,) where options.bias
    const float* scales = nullptr;  // (filters,) where options.scales
  };
  // Computes the result. Thread-safe if each call has a workspace of its own.
  virtual void Run(const Arrays& arrays, char* workspace) const = 0;

  // Returns the layout of the weight that oneDNN computes with; nullopt if WeightPacking cannot
  // express it.
  virtual std::optional<WeightPacking> packing() const { return std::nullopt; }

 protected:
  int64_t workspace_bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
