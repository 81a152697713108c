#ifndef COOPER_SYMBOL_OPS_DETECTION_POSITION_SENSITIVE_SHAPES_H_
#define COOPER_SYMBOL_OPS_DETECTION_POSITION_SENSITIVE_SHAPES_H_

// The shapes of data and rois that the position-sensitive poolings share: _contrib_PSROIPooling and
// _contrib_DeformablePSROIPooling, whose first inputs these are.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Sets input 0, data, to four axes and input 1, rois, to (regions, 5). Fails with kInvalidArgument
// on a contradiction, and if data has fewer than output_dim * groups^2 channels. The numbers are
// positive. A region is (image, x1, y1, x2, y2), the image being its number in the batch. Each bin
// of the groups x groups bins of a region pools channels of its own, hence the product.
inline absl::Status SetPositionSensitiveInputs(ShapeContext& c, int64_t output_dim,
                                               int64_t groups) {
  if (c.input(0).rank_known()) {
    COOPER_RETURN_IF_ERROR(
        c.SetInput(0, PartialShape::OfRank(4), "(batch_size, channels, height, width)"));
    const int64_t channels = c.input(0)[1];
    const int64_t least = ExtentProduct(ExtentProduct(output_dim, groups), groups);
    if (channels != kUnknownDim && channels < least) {
      return absl::InvalidArgumentError(absl::StrCat("input 'data' has ", channels,
                                                     " channels, expected at least ", least,
                                                     " = output_dim * group_size^2"));
    }
  }
  if (!c.input(1).rank_known()) return absl::OkStatus();
  return c.SetInput(1, {kUnknownDim, 5}, "(regions, 5)");
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_POSITION_SENSITIVE_SHAPES_H_
