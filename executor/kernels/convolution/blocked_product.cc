#include "executor/kernels/convolution/blocked_product.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/merged_groups.h"
#include "executor/kernels/convolution/onednn_convolution.h"
#include "executor/kernels/convolution/onednn_product.h"
#include "executor/kernels/convolution/winograd_product.h"
#include "ndarray/products/onednn_thread.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

int OneDnnChannelBlock() {
  static const int block = [] {
    const auto isa = dnnl::get_effective_cpu_isa();
    return (static_cast<int>(isa) & static_cast<int>(dnnl::cpu_isa::avx512_core)) ==
                   static_cast<int>(dnnl::cpu_isa::avx512_core)
               ? 16
               : 8;
  }();
  return block;
}

absl::Status CheckChannelBlock(int64_t block) {
  if (block == OneDnnChannelBlock()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("blocks of ", block, " channels; this processor has ", OneDnnChannelBlock()));
}

Shape PlainImage(const Shape& shape) {
  const int last = shape.rank() - 1;
  Shape plain(shape.dims().first(last));
  plain[1] *= shape[last];
  return plain;
}

namespace {

// Returns whether oneDNN has fast code for the product itself.
bool HasCode(const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  using Result = BlockedProduct::Result;
  const OneDnnOnThisThread this_thread;
  try {
    const ConvolutionDescs d(shape, {1, shape.groups, shape.g.channels, shape.filters});
    const ConvolutionForwardDesc forward = ForwardDescOf(d, options);
    const std::string name = options.result == Result::kMap ? forward.impl_info_str()
                             : options.result == Result::kImage
                                 ? DataDescOf(d, forward).impl_info_str()
                                 : WeightDescOf(d, options, forward).impl_info_str();
    return absl::StartsWith(name, "jit");
  } catch (const dnnl::error&) {
    return false;
  }
}

// Returns how many groups to merge: more than 1 only if the product itself has no fast code and the
// merged one has.
int64_t MergedCount(const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  const int64_t count = GroupsToMerge(shape, OneDnnChannelBlock());
  if (count == 1 || options.packed_weight || HasCode(shape, options)) return 1;
  return HasCode(MergedGroups(shape, count), options) ? count : 1;
}

}  // namespace

bool BlockedProduct::IsFast(const ConvolutionProduct& shape, const Options& options) {
  return HasCode(shape, options) || MergedCount(shape, options) > 1;
}

absl::StatusOr<std::unique_ptr<const BlockedProduct>> BlockedProduct::Make(
    const ConvolutionProduct& shape, const Options& options) {
  if (shape.batch == 0 || shape.g.image_size() == 0 || shape.g.columns() == 0) {
    return absl::UnimplementedError("blocks of an image without elements");
  }
  if (const int64_t count = MergedCount(shape, options); count > 1) {
    return MakeMergedProduct(shape, count, options);
  }
  if (options.algorithm == ConvolutionAlgorithm::kWinograd && SuitsWinogradTiles(shape)) {
    return MakeWinogradProduct(shape, OneDnnChannelBlock(), options);
  }
  if (options.result == Result::kWeight) return MakeWeightProduct(shape, options);
  return MakeActivationProduct(shape, options);
}

}  // namespace cooper
