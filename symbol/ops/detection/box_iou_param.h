#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_

// Inputs and parameters of _contrib_box_iou, which computes the overlap of boxes. The schema is in
// box_iou.cc, the kernels in executor/kernels/detection. MXNet:
// src/operator/contrib/bounding_box.cc.

#include "symbol/ops/detection/box_format.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of _contrib_box_iou: boxes, lhs (..., 4) and rhs (..., 4), each of rank 2 or more. The
// output has the leading axes of lhs and then those of rhs: lhs (5, 4) and rhs (3, 4) give (5, 3).
// All arrays have one dtype, float32 or float64.
struct BoxIouArrays {
  enum Input { kLhs, kRhs };
};

// For a box a of lhs and a box b of rhs, the output is
//
//   area(a and b) / (area(a) + area(b) - area(a and b))
//
// and 0 where the boxes do not intersect. A box with a negative side has the area 0. The operator
// has no gradient.
struct BoxIouParam {
  // The format of the boxes of both inputs.
  BoxFormat format = BoxFormat::kCorner;

  static void Declare(ParamDeclaration<BoxIouParam>& d) {
    d.Enum("format", &BoxIouParam::format, kBoxFormatNames)
        .Doc("corner: xmin, ymin, xmax, ymax; center: x, y, width, height");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_
