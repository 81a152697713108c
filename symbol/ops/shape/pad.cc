// Pads an array. MXNet: src/operator/pad-inl.h, which supports only ranks 4 and 5.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/pad_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status PadShape(ShapeContext& c) {
  const auto& param = c.param<PadParam>();
  const int rank = static_cast<int>(param.pad_width.size() / 2);
  const PartialShape data = c.input(0);
  if (param.pad_width.size() % 2 != 0 || (data.rank_known() && data.rank() != rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("pad_width ", PrintParamText(param.pad_width),
                     " needs two elements for each axis of input 'data' ", data.ToString()));
  }
  constexpr int64_t kMaxWidth = int64_t{1} << 40;  // beyond it sums may overflow
  for (int64_t width : param.pad_width) {
    if (width < 0 || width > kMaxWidth) {
      return absl::InvalidArgumentError(
          absl::StrCat("pad_width ", PrintParamText(param.pad_width), " has ",
                       width < 0 ? "a negative element" : "an element above 2^40"));
    }
  }
  PartialShape padded = PartialShape::OfRank(rank), inner = padded;
  for (int i = 0; i < rank; ++i) {
    const int64_t before = param.pad_width[2 * i], after = param.pad_width[2 * i + 1];
    if (c.output(0).rank() == rank && c.output(0).dim_known(i)) {
      inner[i] = c.output(0)[i] - before - after;
      if (inner[i] < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("pad_width ", PrintParamText(param.pad_width),
                         " exceeds the output's shape ", c.output(0).ToString()));
      }
    }
    if (!data.rank_known() || !data.dim_known(i)) continue;
    padded[i] = ExtentSum(data[i], before + after);
    const int64_t mirrored = std::max(before, after);
    const int64_t least = param.mode == PadParam::kReflect     ? mirrored + 1
                          : param.mode == PadParam::kSymmetric ? mirrored
                          : param.mode == PadParam::kEdge      ? 1
                                                               : 0;
    if (before + after > 0 && data[i] < least) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis ", i, " of input 'data' ", data.ToString(), " is too short for pad_width ",
          PrintParamText(param.pad_width), ": this mode needs an extent of ", least));
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, padded, "data's extents and pad_width"));
  return c.SetInput(0, inner, "the output's extents without pad_width");
}

COOPER_REGISTER_OP(Pad)
    .Describe("data with new elements around it.")
    .Alias("pad")
    .Param<PadParam>()
    .Inputs({"data"})
    .Shape(PadShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_Pad", {head});
    });

COOPER_REGISTER_OP(_backward_Pad)
    .Describe("The sum of ograd over the elements that took their value from one of data's.")
    .Param<PadParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
