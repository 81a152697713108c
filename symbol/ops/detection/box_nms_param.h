#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_

#include <cstdint>

#include "symbol/ops/detection/box_format.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// kRecord (..., boxes, 1), for the gradient only: the index in its image of the box in each output
// row; -1 for none.
struct BoxNmsArrays {
  enum Input { kData };
  enum Output { kOutput, kRecord };
};
struct BoxNmsGradientArrays {
  enum Input { kOgrad, kRecord };
};

// Parameters of _contrib_box_nms.
struct BoxNmsParam {
  double overlap_thresh = 0.5;
  double valid_thresh = 0;
  int64_t topk = -1;
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = -1;
  int64_t background_id = -1;
  bool force_suppress = false;
  BoxFormat in_format = BoxFormat::kCorner;
  BoxFormat out_format = BoxFormat::kCorner;

  static void Declare(ParamDeclaration<BoxNmsParam>& d) {
    d.Field("overlap_thresh", &BoxNmsParam::overlap_thresh)
        .Doc("boxes that overlap one with a greater score by more than this go");
    d.Field("valid_thresh", &BoxNmsParam::valid_thresh)
        .Doc("boxes go whose score is not greater than this");
    d.Field("topk", &BoxNmsParam::topk)
        .Doc(
            "how many boxes of an image are looked at, those of the greatest scores; all if "
            "negative, and 0 leaves the data as it is");
    d.Field("coord_start", &BoxNmsParam::coord_start).Doc("where the four numbers of a box begin");
    d.Field("score_index", &BoxNmsParam::score_index).Doc("where the score of a box is");
    d.Field("id_index", &BoxNmsParam::id_index)
        .Doc("where the class of a box is; -1: boxes have none");
    d.Field("background_id", &BoxNmsParam::background_id)
        .Doc("boxes of this class go; needs id_index");
    d.Field("force_suppress", &BoxNmsParam::force_suppress)
        .Doc("whether boxes of different classes suppress each other too");
    d.Enum("in_format", &BoxNmsParam::in_format, BoxFormatNames())
        .Doc("corner: xmin, ymin, xmax, ymax; center: x, y, width, height");
    d.Enum("out_format", &BoxNmsParam::out_format, BoxFormatNames())
        .Doc("as in_format; boxes that begin left of 0 keep the format that they have");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_
