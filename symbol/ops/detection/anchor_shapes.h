#ifndef COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
#define COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_

// What operators that take anchors (1, anchors, 4) check in the same way.

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

inline absl::Status SetAnchorShape(ShapeContext& c, int anchor) {
  return c.SetInput(anchor, {1, kUnknownDim, 4}, "(1, anchors, 4)");
}

// One for each of x, y, width and height.
inline absl::Status CheckVariances(const std::vector<float>& variances) {
  if (variances.size() == 4) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("variances are ", variances.size(), " numbers, expected 4"));
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
