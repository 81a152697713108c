#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_CODING_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_CODING_PARAM_H_

// Arrays and parameters of _contrib_box_encode, which computes regression targets of anchors, and
// _contrib_box_decode, which applies predictions to anchors (Girshick, Fast R-CNN, 2015). The
// schemas are in box_coding.cc, the arithmetic in executor/kernels/detection/box_coding.h. MXNet:
// src/operator/contrib/bounding_box.cc.

#include "symbol/ops/detection/box_format.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: samples (batch_size, anchors), above 0.5 for anchors that have a target; matches
// (batch_size, anchors), the reference of each anchor; anchors (batch_size, anchors, 4) and refs
// (batch_size, references, 4), corners; means and stds (4,). Outputs (batch_size, anchors, 4):
// target, the shift of the center and the logarithm of the factor of the sides, minus means and
// divided by stds; mask, 1 where there is a target. Both are 0 elsewhere, and for a match that is
// no reference. All arrays have one dtype, float32 or float64. There is no gradient, and there are
// no parameters.
struct BoxEncodeArrays {
  enum Input { kSamples, kMatches, kAnchors, kRefs, kMeans, kStds };
  enum Output { kTarget, kMask };
};

// Inputs: data (batch_size, anchors, 4), targets as _contrib_box_encode computes them with means of
// 0; anchors (1, anchors, 4). The output has the corners (batch_size, anchors, 4). All arrays have
// one dtype, float32 or float64. There is no gradient.
struct BoxDecodeArrays {
  enum Input { kData, kAnchors };
};

struct BoxDecodeParam {
  // Factors of the four numbers of data.
  float std0 = 1;
  float std1 = 1;
  float std2 = 1;
  float std3 = 1;
  // Upper limit of the logarithms of the factors of the sides; none if not above 0.
  float clip = -1;
  // The format of the anchors.
  BoxFormat format = BoxFormat::kCenter;

  static void Declare(ParamDeclaration<BoxDecodeParam>& d) {
    d.Field("std0", &BoxDecodeParam::std0).Doc("what the shift along x is multiplied by");
    d.Field("std1", &BoxDecodeParam::std1).Doc("what the shift along y is multiplied by");
    d.Field("std2", &BoxDecodeParam::std2).Doc("what the logarithm of the width is multiplied by");
    d.Field("std3", &BoxDecodeParam::std3).Doc("what the logarithm of the height is multiplied by");
    d.Field("clip", &BoxDecodeParam::clip)
        .Doc("largest logarithm of a side's factor; unlimited if not above 0");
    d.Enum("format", &BoxDecodeParam::format, kBoxFormatNames)
        .Doc("anchors are corner: xmin, ymin, xmax, ymax; center: x, y, width, height");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_CODING_PARAM_H_
