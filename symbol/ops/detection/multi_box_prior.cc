// Generates SSD's anchors around each pixel. MXNet: src/operator/contrib/multibox_prior.cc.

#include <cstdint>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/multi_box_prior_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckParams(const MultiBoxPriorParam& param) {
  if (param.sizes.empty() || param.ratios.empty()) {
    return absl::InvalidArgumentError("sizes and ratios have to have a number each");
  }
  if (param.steps.size() != 2 || param.steps[0] * param.steps[1] < 0) {
    return absl::InvalidArgumentError("steps have to be two numbers of one sign, (y, x)");
  }
  for (float offset : param.offsets) {
    if (!(offset >= 0 && offset <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("offsets have ", offset, ", expected numbers from 0 to 1"));
    }
  }
  if (param.offsets.size() != 2) {
    return absl::InvalidArgumentError("offsets have to be two numbers, (y, x)");
  }
  return absl::OkStatus();
}

// Shape rule: data (batch_size, channels, height, width); output (1, height * width * boxes of a
// pixel, 4).
absl::Status MultiBoxPriorShape(ShapeContext& c) {
  const auto& param = c.param<MultiBoxPriorParam>();
  COOPER_RETURN_IF_ERROR(CheckParams(param));
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(0, PartialShape::OfRank(4), "(batch_size, channels, height, width)"));
  const int64_t height = c.input(0)[2], width = c.input(0)[3];
  int64_t boxes = kUnknownDim;
  if (height != kUnknownDim && width != kUnknownDim) {
    const auto per_pixel = static_cast<int64_t>(param.sizes.size() + param.ratios.size()) - 1;
    boxes = ExtentProduct(ExtentProduct(height, width), per_pixel);
  }
  return c.SetOutput(0, {1, boxes, 4}, "(1, boxes, 4)");
}

COOPER_REGISTER_OP(_contrib_MultiBoxPrior)
    .Describe(
        "Boxes around each pixel of data, as shares of the image: xmin, ymin, xmax, ymax. No "
        "gradient flows through it.")
    .Alias("_npx_multibox_prior")
    .Param<MultiBoxPriorParam>()
    .Inputs({"data"})
    .Shape(MultiBoxPriorShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_MultiBoxPrior, {{"sizes", "(0.2, 0.4)"}}, {{2, 3, 5, 7}});

}  // namespace
}  // namespace cooper
