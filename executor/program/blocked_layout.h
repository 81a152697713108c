#ifndef COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_
#define COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_

// Images whose channels lie in blocks (symbol/ops/nn/blocked_shape.h): what the kernels that this
// program has linked want of them.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fused_convolution_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// How a convolution's weight is packed: by which operator, of one input and one output.
struct WeightPacking {
  std::string op;
  AttrMap attrs;
  int64_t elements = 0;  // of the output

  // For the attribute weight_packing: equal for equal ones.
  std::string ToString() const {
    return absl::StrCat(op, " ", absl::StrJoin(attrs, " ", absl::PairFormatter("=")));
  }
};

enum class ConvolutionAlgorithm { kDirect, kWinograd };

struct BlockedLayout {
  // How many channels a block has, at least 1.
  int64_t block = 0;
  // Whether there is fast code for a convolution of plain shapes (batch, channels, spatial...), and
  // if asked for its gradients. `plain_data`: only the output has blocks.
  bool (*has_convolution)(const ConvolutionParam& param, const Shape& data, const Shape& output,
                          bool plain_data, bool gradients) = nullptr;
  // How the weight of a _fused_convolution of these shapes is packed for an algorithm; nullopt if
  // that does not pay, or cannot be done.
  std::optional<WeightPacking> (*weight_packing)(const FusedConvolutionParam& param,
                                                 ConvolutionAlgorithm algorithm, const Shape& data,
                                                 const Shape& output) = nullptr;
};

// Null if no kernel is linked that gains by blocks.
const BlockedLayout* GetBlockedLayout();

// Called once, from a static initializer of what brings such kernels.
void RegisterBlockedLayout(const BlockedLayout* (*layout)());

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_BLOCKED_LAYOUT_H_
