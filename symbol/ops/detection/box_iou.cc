// Computes the overlap of boxes. MXNet: src/operator/contrib/bounding_box.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/box_iou_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BoxIouArrays::Input;

// Shape rule: lhs (..., 4), rhs (..., 4); the output has the axes of lhs and then those of rhs,
// without the last axis of each.
absl::Status BoxIouShape(ShapeContext& c) {
  PartialShape out;
  for (int i : {kLhs, kRhs}) {
    const PartialShape& boxes = c.input(i);
    if (!boxes.rank_known()) return absl::OkStatus();
    if (boxes.rank() < 2) {
      return absl::InvalidArgumentError(absl::StrCat("input '", i == kLhs ? "lhs" : "rhs", "' ",
                                                     boxes.ToString(), " is not (..., boxes, 4)"));
    }
    PartialShape of_boxes = PartialShape::OfRank(boxes.rank());
    of_boxes[boxes.rank() - 1] = 4;
    COOPER_RETURN_IF_ERROR(c.SetInput(i, of_boxes, "(..., boxes, 4)"));
  }
  const PartialShape &lhs = c.input(kLhs), &rhs = c.input(kRhs);
  out = PartialShape::OfRank(lhs.rank() + rhs.rank() - 2);
  for (int i = 0; i < lhs.rank() - 1; ++i) out[i] = lhs[i];
  for (int i = 0; i < rhs.rank() - 1; ++i) out[lhs.rank() - 1 + i] = rhs[i];
  return c.SetOutput(0, out, "(boxes of lhs..., boxes of rhs...)");
}

COOPER_REGISTER_OP(_contrib_box_iou)
    .Describe(
        "The intersection of each box of lhs with each box of rhs, divided by their union. No "
        "gradient flows through it.")
    .Param<BoxIouParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(BoxIouShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_box_iou, {}, {{5, 4}, {3, 4}});

}  // namespace
}  // namespace cooper
