#ifndef COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_
#define COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_

// Describes what the linked kernels need of images whose channels lie in blocks
// (symbol/ops/fused/blocked_shape.h): the block size and the packing of weights.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/fused/fused_convolution_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The operator, of one input and one output, that packs the weight of a convolution.
struct WeightPacking {
  std::string op;
  AttrMap attrs;
  int64_t elements = 0;  // of the output

  // Returns the text of the attribute weight_packing: equal for equal packings.
  std::string ToString() const {
    return absl::StrCat(op, " ", absl::StrJoin(attrs, " ", absl::PairFormatter("=")));
  }
};

// The algorithms of the blocked convolution kernels.
enum class ConvolutionAlgorithm { kDirect, kWinograd };

// Properties of the blocked kernels that are linked into this program.
struct BlockedLayout {
  // Number of channels in a block, at least 1.
  int64_t block = 0;
  // Returns whether the kernels have fast code for a convolution of plain shapes (batch, channels,
  // spatial...), and with `gradients` also for its gradients. With `plain_data` only the output is
  // blocked.
  bool (*has_convolution)(const ConvolutionParam& param, const Shape& data, const Shape& output,
                          bool plain_data, bool gradients) = nullptr;
  // Returns how the weight of a _fused_convolution of these shapes is packed for an algorithm;
  // nullopt if packing is not faster or is impossible.
  std::optional<WeightPacking> (*weight_packing)(const FusedConvolutionParam& param,
                                                 ConvolutionAlgorithm algorithm, const Shape& data,
                                                 const Shape& output) = nullptr;
  // Whether a depthwise convolution gains from blocks even if both conversions are for it alone.
  bool converts_for_depthwise = false;
};

// Returns the properties of the linked kernels; null if no linked kernel is faster with blocks.
const BlockedLayout* GetBlockedLayout();

// Registers the function behind GetBlockedLayout. Called once, by a static initializer of the
// target that has the blocked kernels.
void RegisterBlockedLayout(const BlockedLayout* (*layout)());

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_
