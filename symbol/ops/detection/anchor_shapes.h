#ifndef COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
#define COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_

// Shape checks shared by the operators that take anchors (1, anchors, 4).

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Gives input `anchor` the shape (1, anchors, 4).
inline absl::Status SetAnchorShape(ShapeContext& c, int anchor) {
  return c.SetInput(anchor, {1, kUnknownDim, 4}, "(1, anchors, 4)");
}

// Fails with kInvalidArgument unless there is one variance for each of x, y, width and height.
inline absl::Status CheckVariances(const std::vector<float>& variances) {
  if (variances.size() == 4) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("variances are ", variances.size(), " numbers, expected 4"));
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
