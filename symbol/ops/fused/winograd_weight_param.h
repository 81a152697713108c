#ifndef COOPER_SYMBOL_OPS_FUSED_WINOGRAD_WEIGHT_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_WINOGRAD_WEIGHT_PARAM_H_

// The memory layout of a weight that _winograd_weight has transformed for Winograd convolutions
// (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016) on a CPU. Symbol files
// do not contain the operator: the graph pass of the executor that packs constant weights inserts
// it where a convolution uses that algorithm. The schema is in winograd_weight.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The weight (filters, channels, 3, 3) is divided along its first axis into slices of `slice`
// filters. Each slice is contiguous. Formats 1 to 4 are oneDNN's numbers of layouts, whose fields
// are those of oneDNN's description; kTileFormat is cooper's. A tile of
// 3 x 3 becomes one of alpha x alpha, so the result has alpha^2 / 9 times the elements of the
// weight. Shape inference fails with kInvalidArgument unless slices divide the filters, blocks
// divide slices and channels, and alpha is even.
struct WinogradWeightParam {
  // Slices of 16 filters, each (element of the 6 x 6 tile, channel, filter).
  static constexpr int64_t kTileFormat = 5;

  int64_t filters = 1, channels = 1;
  int64_t slice = 1;
  int64_t format = 0;
  int64_t alpha = 4;
  int64_t filter_block = 1, filter_blocks = 1;
  int64_t channel_block = 1, channel_blocks = 1;

  bool operator==(const WinogradWeightParam&) const = default;

  static void Declare(ParamDeclaration<WinogradWeightParam>& d) {
    using P = WinogradWeightParam;
    constexpr double kMax = 1 << 20;
    d.Field("filters", &P::filters).Required().Min(1).Max(kMax).Doc("of the weight");
    d.Field("channels", &P::channels).Required().Min(1).Max(kMax).Doc("of the weight");
    d.Field("slice", &P::slice).Required().Min(1).Max(kMax).Doc("filters that lie together");
    d.Field("format", &P::format)
        .Required()
        .Min(1)
        .Max(kTileFormat)
        .Doc("1 to 4: oneDNN's layouts; 5: (element, channel, filter)");
    d.Field("alpha", &P::alpha).Required().Min(4).Max(6).Doc("extent of a transformed tile");
    d.Field("filter_block", &P::filter_block).Min(1).Max(kMax).Doc("filters in a block");
    d.Field("filter_blocks", &P::filter_blocks).Min(1).Max(kMax).Doc("blocks that lie together");
    d.Field("channel_block", &P::channel_block).Min(1).Max(kMax).Doc("channels in a block");
    d.Field("channel_blocks", &P::channel_blocks).Min(1).Max(kMax).Doc("blocks that lie together");
  }

  // Return the numbers of slices, of elements of a slice, and of elements of the transformed
  // weight.
  int64_t num_slices() const { return filters / slice; }
  int64_t slice_elements() const { return alpha * alpha * slice * channels; }
  int64_t num_elements() const { return num_slices() * slice_elements(); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_WINOGRAD_WEIGHT_PARAM_H_
