#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_

// The base of a convolution's three products by oneDNN: a product is cut into parts, which threads
// take one by one. Parts depend on the shapes alone, so that results do not depend on the number of
// threads. activation_product.cc and weight_product.cc derive from it; blocked_product.h is its
// interface.
//
// oneDNN runs each part on one thread (OneDnnOnThisThread), because its own threads would compete
// with cooper's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/onednn_convolution.h"
#include "executor/kernels/convolution/onednn_engine.h"
#include "ndarray/products/onednn_thread.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

// Target multiplications of a part in a large product, and the least multiplications of a product
// that is cut into two parts for a second thread. kMaxParts limits WantedParts().
constexpr double kMinWorkPerPart = 4e6;
constexpr double kMinWorkOfTwo = 2e6;
constexpr double kMinDepthwiseWorkOfTwo = 2e5;
constexpr int64_t kMaxParts = 32;
// Channels are cut only where there are few images, because oneDNN computes several blocks at a
// time. A layer of a few blocks is still cut into two parts so that a second thread can work.
constexpr int64_t kMaxPartsByChannels = 8;
constexpr int64_t kMinBlocksPerPart = 3;

// Returns the size of a buffer in a workspace: `bytes` rounded up to a multiple of 64.
inline int64_t AlignedBytes(size_t bytes) {
  constexpr int64_t kAlignment = 64;
  return (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

// Returns a / b, rounded up, for a >= 0 and b > 0.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A primitive for parts of one size, and the layouts of its arrays. Several threads may execute it
// at the same time, each with a scratch buffer of its own.
struct SizedProduct {
  dnnl::primitive primitive;
  dnnl::memory::desc image, weight, map, bias, scratch, plain_weight;
  // Converts from the plain weight; for kWeight, to it.
  dnnl::primitive reorder;
};

// A range of the images and of the channels of a product. Its arrays are views of the product's, at
// the offsets below.
struct ProductPart {
  int64_t image = 0;    // the first one
  int64_t channel = 0;  // the first group; with one group, the first channel or filter
  int64_t slice = 0;    // the index of its range of channels
  ConvolutionExtent extent = {};
  const SizedProduct* sized = nullptr;
  // The primitive's arguments; only ActivationProduct uses them.
  std::unique_ptr<const KeptOneDnnArguments> arguments = std::make_unique<KeptOneDnnArguments>();
};

// Derived classes provide Init, which cuts the product into parts, and Run. Init is called once,
// before the product is shared.
class OneDnnProduct : public BlockedProduct {
 public:
  OneDnnProduct(const ConvolutionProduct& shape, const Options& options)
      : p_(shape), options_(options) {}

  // Returns the elements of an image, of all its channels. The gradient of a plain image is
  // computed in blocks first, so its last block is padded.
  int64_t image_step() const {
    const int64_t channels = p_.groups * p_.g.channels;
    const int64_t block = OneDnnChannelBlock();
    return (unblocks() ? CeilDiv(channels, block) * block : channels) * p_.g.image_size();
  }
  // Returns whether the result is converted from blocks to a plain image at the end.
  bool unblocks() const { return options_.result == Result::kImage && options_.plain_image; }

  // Return the part's offset in each array, in elements.
  int64_t image_offset(const ProductPart& part) const {
    const int64_t channels = p_.groups > 1                       ? part.channel * p_.g.channels
                             : options_.result == Result::kImage ? part.channel
                                                                 : 0;
    return part.image * image_step() + channels * p_.g.image_size();
  }
  int64_t map_offset(const ProductPart& part) const {
    const int64_t filters = p_.groups > 1                       ? part.channel * p_.filters
                            : options_.result == Result::kImage ? 0
                                                                : part.channel;
    return (part.image * p_.groups * p_.filters + filters) * p_.g.columns();
  }
  int64_t weight_offset(const ProductPart& part) const {
    if (p_.groups > 1) return part.channel * p_.weight_step();
    return part.channel * (options_.result == Result::kImage ? p_.g.kernel_size() : p_.g.rows());
  }

 protected:
  // Returns the number of channels that can be cut: groups, or, with one group, channels of the
  // result.
  int64_t channels() const {
    if (p_.groups > 1) return p_.groups;
    return options_.result == Result::kImage ? p_.g.channels : p_.filters;
  }
  // The multiplications of the product.
  int64_t work() const { return p_.batch * p_.groups * p_.filters * p_.g.rows() * p_.g.columns(); }
  // Returns the number of parts that suits the work: 1 to kMaxParts, at least 2 if a second thread
  // saves time.
  int64_t WantedParts() const {
    const auto products = static_cast<double>(work());
    // A depthwise product is bound by memory rather than by multiplications.
    const bool depthwise = p_.groups > 1 && p_.g.channels == 1 && p_.filters == 1;
    const bool in_two = products >= (depthwise ? kMinDepthwiseWorkOfTwo : kMinWorkOfTwo);
    return std::clamp<int64_t>(static_cast<int64_t>(products / kMinWorkPerPart), in_two ? 2 : 1,
                               kMaxParts);
  }
  // Returns the least number of channels of a part, which gives whole blocks in both arrays.
  int64_t ChannelStep() const {
    const int64_t block = OneDnnChannelBlock();
    if (p_.groups == 1 || (p_.g.channels == 1 && p_.filters == 1)) return block;
    return p_.g.channels % block == 0 && p_.filters % block == 0 ? 1 : p_.groups;
  }
  // Returns the channels of each part but the last, for 1, 2, 4 or 8 parts, at most `parts` of
  // them, that give two threads about equal work.
  int64_t ChannelsPerPart(int64_t parts) const {
    const int64_t step = ChannelStep();
    const int64_t steps = CeilDiv(channels(), step);
    if (parts <= 1) return channels();
    int64_t per_part = CeilDiv(steps, 2);
    for (int64_t n = 4; n <= parts; n *= 2) {
      const int64_t smaller = CeilDiv(steps, n);
      const int64_t longest = CeilDiv(CeilDiv(steps, smaller), 2) * smaller;  // of two threads
      if (p_.groups == 1 && smaller < kMinBlocksPerPart) break;
      if (longest * 2 <= steps + steps / 8) per_part = smaller;
    }
    return std::min(channels(), per_part * step);
  }

  // Adds parts of `images` images and `per_part` channels; the last ones may be smaller. If images
  // and maps are larger than the weight, the parts of an image are adjacent, otherwise those of a
  // slice of the weight. A thread takes adjacent parts, so the larger array stays in its cache.
  //
  // Errors: those of SizedOf.
  absl::Status Cut(int64_t images, int64_t per_part);

  // Returns the primitive and its layouts for parts with the dimensions `d`; SizedOf adds the plain
  // weight and the reorder. `forward` describes the forward product. May throw dnnl::error.
  virtual SizedProduct MakeSized(const ConvolutionDescs& d,
                                 const ConvolutionForwardDesc& forward) const = 0;

  // Returns the primitive for parts of this extent, compiled at the first call; this object owns
  // it. Raises scratch_bytes_ and weight_bytes_ to its needs.
  //
  // Errors: kUnimplemented, with oneDNN's message, if oneDNN has no implementation.
  absl::StatusOr<const SizedProduct*> SizedOf(const ConvolutionExtent& e);

  const ConvolutionProduct p_;
  const Options options_;
  std::vector<ProductPart> parts_;
  int64_t scratch_bytes_ = 0;  // of one part
  int64_t weight_bytes_ = 0;   // in oneDNN's layout
  std::vector<std::pair<ConvolutionExtent, std::unique_ptr<const SizedProduct>>> sized_;
};

// Creates a product of class P and cuts it into parts. Errors: those of P::Init.
template <typename P>
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeOneDnnProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  auto product = std::make_unique<P>(shape, options);
  const OneDnnOnThisThread this_thread;
  absl::Status status = product->Init();
  if (!status.ok()) return status;
  return product;
}

// Compiles a product of Result::kMap or kImage (activation_product.cc). Errors: those of
// OneDnnProduct::SizedOf.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeActivationProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options);
// Compiles a product of Result::kWeight (weight_product.cc). Errors: those of
// OneDnnProduct::SizedOf.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWeightProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_
