#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_

#include "symbol/ops/detection/box_format.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of _contrib_box_iou: boxes, lhs (..., 4) and rhs (..., 4).
struct BoxIouArrays {
  enum Input { kLhs, kRhs };
};

struct BoxIouParam {
  BoxFormat format = BoxFormat::kCorner;

  static void Declare(ParamDeclaration<BoxIouParam>& d) {
    d.Enum("format", &BoxIouParam::format, BoxFormatNames())
        .Doc("corner: xmin, ymin, xmax, ymax; center: x, y, width, height");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_IOU_PARAM_H_
