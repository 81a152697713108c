// Transforms a weight for Winograd convolutions. Not in symbol files: a graph pass inserts it for
// constant weights.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/winograd_weight_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckBlocks(const WinogradWeightParam& p) {
  if (p.alpha % 2 == 0 && p.filters % p.slice == 0 &&
      p.slice % (p.filter_block * p.filter_blocks) == 0 &&
      p.channels % (p.channel_block * p.channel_blocks) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(p.filters, " filters in slices of ", p.slice, " and ", p.channels,
                   " channels, expected whole slices, and whole groups of ", p.filter_blocks,
                   " blocks of ", p.filter_block, " filters and ", p.channel_blocks, " blocks of ",
                   p.channel_block, " channels, and an even alpha"));
}

COOPER_REGISTER_OP(_winograd_weight)
    .Describe("A weight transformed for Winograd's convolutions.")
    .Param<WinogradWeightParam>()
    .Inputs({"weight"})
    .Shape([](ShapeContext& c) -> absl::Status {
      const auto& param = c.param<WinogradWeightParam>();
      COOPER_RETURN_IF_ERROR(CheckBlocks(param));
      COOPER_RETURN_IF_ERROR(
          c.SetInput(0, {param.filters, param.channels, 3, 3}, "(filters, channels, 3, 3)"));
      return c.SetOutput(0, {param.num_elements()});
    })
    .Type(SameType);

COOPER_OP_EXAMPLE(
    _winograd_weight,
    {{"filters", "16"}, {"channels", "16"}, {"slice", "16"}, {"format", "1"}, {"alpha", "4"}},
    {{16, 16, 3, 3}});

}  // namespace
}  // namespace cooper
