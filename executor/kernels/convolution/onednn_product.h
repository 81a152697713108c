#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_

// What a convolution's three products by oneDNN have in common: they are cut into parts, which
// threads take one by one. Parts depend on the shapes alone, so that results do not depend on the
// number of threads.

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

// Multiplications of a part where there are many, and of what is cut into two so that another
// thread has something to do.
constexpr double kMinWorkPerPart = 4e6;
constexpr double kMinWorkOfTwo = 2e6;
constexpr double kMinDepthwiseWorkOfTwo = 4e5;
constexpr int64_t kMaxParts = 32;
// Channels are cut only where there are few images: oneDNN computes several blocks at a time. Of a
// few blocks two parts are made all the same, for one would leave all threads but one idle.
constexpr int64_t kMaxPartsByChannels = 8;
constexpr int64_t kBlocksPerPart = 4;

// The size of a buffer in a workspace.
inline int64_t AlignedBytes(size_t bytes) {
  constexpr int64_t kAlignment = 64;
  return (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A primitive for parts of one size, and what it wants of its weight.
struct SizedProduct {
  dnnl::primitive primitive;
  dnnl::memory::desc image, weight, map, bias, scratch, plain_weight;
  // From the plain weight, or for kWeight to it.
  dnnl::primitive reorder;
};

// All of a product's channels, or some, of all of its images, or some.
struct ProductPart {
  int64_t image = 0;    // the first one
  int64_t channel = 0;  // the first group, or where there is one group, channel or filter
  ConvolutionExtent extent = {};
  const SizedProduct* sized = nullptr;
};

class OneDnnProduct : public BlockedProduct {
 public:
  OneDnnProduct(const ConvolutionProduct& shape, const Options& options)
      : p_(shape), options_(options) {}

  // Elements of an image. A plain one's gradient is computed in blocks.
  int64_t image_step() const {
    const int64_t channels = p_.groups * p_.g.channels;
    const int64_t block = OneDnnChannelBlock();
    return (unblocks() ? CeilDiv(channels, block) * block : channels) * p_.g.image_size();
  }
  bool unblocks() const { return options_.result == Result::kImage && options_.plain_image; }

  // The part's place in each array, in elements.
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
  // How many channels there are to be cut: groups, or those of the result.
  int64_t channels() const {
    if (p_.groups > 1) return p_.groups;
    return options_.result == Result::kImage ? p_.g.channels : p_.filters;
  }
  int64_t work() const { return p_.batch * p_.groups * p_.filters * p_.g.rows() * p_.g.columns(); }
  int64_t WantedParts() const {
    const auto products = static_cast<double>(work());
    // A depth-wise product waits for memory rather than multiplies.
    const bool depthwise = p_.groups > 1 && p_.g.channels == 1 && p_.filters == 1;
    const bool in_two = products >= (depthwise ? kMinDepthwiseWorkOfTwo : kMinWorkOfTwo);
    return std::clamp<int64_t>(static_cast<int64_t>(products / kMinWorkPerPart), in_two ? 2 : 1,
                               kMaxParts);
  }
  // The least number of channels of a part: whole blocks in both arrays.
  int64_t ChannelStep() const {
    const int64_t block = OneDnnChannelBlock();
    if (p_.groups == 1) {
      return std::clamp<int64_t>(channels() / block / 2, 1, kBlocksPerPart) * block;
    }
    if (p_.g.channels == 1 && p_.filters == 1) return block;
    return p_.g.channels % block == 0 && p_.filters % block == 0 ? 1 : p_.groups;
  }
  // Channels of each part but the last, if they are to be cut into about `parts`.
  int64_t ChannelsPerPart(int64_t parts) const {
    const int64_t step = ChannelStep();
    return std::min(channels(), CeilDiv(CeilDiv(channels(), parts), step) * step);
  }

  // Adds parts of `images` images and `per_part` channels, channels outermost, so that a part of
  // the weight is used by one image after the other.
  absl::Status Cut(int64_t images, int64_t per_part);

  virtual SizedProduct MakeSized(const ConvolutionDescs& d,
                                 const ConvolutionForwardDesc& forward) const = 0;

  absl::StatusOr<const SizedProduct*> SizedOf(const ConvolutionExtent& e);

  const ConvolutionProduct p_;
  const Options options_;
  std::vector<ProductPart> parts_;
  int64_t scratch_bytes_ = 0;  // of a part
  int64_t weight_bytes_ = 0;   // in oneDNN's order
  std::vector<std::pair<ConvolutionExtent, std::unique_ptr<const SizedProduct>>> sized_;
};

// A product of a kind, cut into its parts.
template <typename P>
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeOneDnnProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  auto product = std::make_unique<P>(shape, options);
  const OneDnnOnThisThread this_thread;
  absl::Status status = product->Init();
  if (!status.ok()) return status;
  return product;
}

// kMap or kImage.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeActivationProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options);
// kWeight.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWeightProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PRODUCT_H_
