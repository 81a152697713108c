#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_

// The three products of a convolution by oneDNN, on float32 arrays whose channels lie in blocks:
// (batch, channels / block, spatial..., block). Weights are plain, or packed for one of them.

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

// How many channels a block has in the layout that oneDNN's convolutions want on this processor.
int OneDnnChannelBlock();

// kUnimplemented for blocks of another length.
absl::Status CheckChannelBlock(int64_t block);

// (batch, channels, spatial...) of an image that lies in blocks.
Shape PlainImage(const Shape& shape);

class BlockedProduct {
 public:
  // Which of the three arrays is computed from the other two.
  enum class Result { kMap, kImage, kWeight };
  struct Options {
    Result result = Result::kMap;
    // Whether the image is (batch, channels, spatial...), as a network's first one is, with fewer
    // channels than a block.
    bool plain_image = false;
    // For kMap only: whether there is a bias, whether each filter of the weight is multiplied by a
    // number first, and at last whether negative results become 0, or all are brought within
    // bounds.
    bool bias = false;
    bool scales = false;
    bool relu = false;
    bool clip = false;
    float a_min = 0, a_max = 0;
    bool add = false;  // to what the result's array has
    // For kMap only: whether the weight is packed as packing() says, rather than plain, and whether
    // it is for Winograd's algorithm.
    bool packed_weight = false;
    ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::kDirect;
  };

  // kUnimplemented if oneDNN has no code for such a convolution, or there are no elements.
  static absl::StatusOr<std::unique_ptr<const BlockedProduct>> Make(const ConvolutionProduct& shape,
                                                                    const Options& options);
  // Whether oneDNN has code that was written for this processor, rather than code that shows what
  // is meant: for the convolution as it is, or with several groups in one.
  static bool IsFast(const ConvolutionProduct& shape, const Options& options);
  virtual ~BlockedProduct() = default;

  int64_t workspace_bytes() const { return workspace_bytes_; }

  // The result's array is written, the others are read.
  struct Arrays {
    float* image = nullptr;
    float* weight = nullptr;
    float* map = nullptr;
    const float* bias = nullptr;    // (filters,) where options.bias
    const float* scales = nullptr;  // (filters,) where options.scales
  };
  // Several threads may run it at a time, each with a workspace of its own.
  virtual void Run(const Arrays& arrays, char* workspace) const = 0;

  // How the weight lies that oneDNN computes with; nullopt where there are no words for it.
  virtual std::optional<WeightPacking> packing() const { return std::nullopt; }

 protected:
  int64_t workspace_bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_BLOCKED_PRODUCT_H_
