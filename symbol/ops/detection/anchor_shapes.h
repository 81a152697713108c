#ifndef COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
#define COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_

// Shape checks shared by MultiBoxTarget and MultiBoxDetection, the operators of SSD that take
// anchors of shape (1, anchors, 4). The shape rules in multi_box_target.cc and
// multi_box_detection.cc call them.

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Gives input number `anchor` the shape (1, anchors, 4): one set of anchors, which all images of a
// batch share. The number of anchors stays unknown; the rule merges it from the other inputs. Fails
// with kInvalidArgument if the known shape contradicts this.
inline absl::Status SetAnchorShape(ShapeContext& c, int anchor) {
  return c.SetInput(anchor, {1, kUnknownDim, 4}, "(1, anchors, 4)");
}

// Fails with kInvalidArgument unless there is one variance for each of x, y, width and height.
// MXNet reads four numbers without this check.
inline absl::Status CheckVariances(const std::vector<float>& variances) {
  if (variances.size() == 4) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("variances are ", variances.size(), " numbers, expected 4"));
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_ANCHOR_SHAPES_H_
