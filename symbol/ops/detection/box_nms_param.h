#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_

// Arrays and parameters of _contrib_box_nms, greedy non-maximum suppression. The schema and the
// check of the column numbers are in box_nms.cc; the kernels of both devices share nms_rule.h in
// executor/kernels/detection. MXNet: src/operator/contrib/bounding_box.cc.

#include <cstdint>

#include "symbol/ops/detection/box_format.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// data and output are (..., boxes, width); the axes before these two count images, which are
// independent. Each box is a row of `width` numbers: four coordinates, a score and, optionally, a
// class; other columns are copied. kRecord (..., boxes, 1), int32, is a hidden output for the
// gradient only: the index in its image of the box in each output row; -1 for none.
struct BoxNmsArrays {
  enum Input { kData };
  enum Output { kOutput, kRecord };
};
// The gradient copies each row of ograd to the box that the forward pass put there; suppressed
// boxes get 0. A conversion of the format has no effect on the gradient.
struct BoxNmsGradientArrays {
  enum Input { kOgrad, kRecord };
};

// Parameters of _contrib_box_nms. For each image the operator takes the candidates: boxes with a
// score above valid_thresh that are not of class background_id. It sorts them by score, equal
// scores by position, keeps the first topk, and goes through them in this order: each box that is
// still there removes all later ones whose intersection over union with it is above overlap_thresh.
// The remaining rows come first in the output, in that order; all other rows are -1.
//
// The shape rule fails with kInvalidArgument if score, class and box are not distinct columns of a
// row.
struct BoxNmsParam {
  // Limit of intersection over union in [0, 1]. A box is removed only if the overlap is greater,
  // not equal.
  double overlap_thresh = 0.5;
  // Only boxes with a greater score are candidates.
  double valid_thresh = 0;
  // Number of candidates per image that take part; candidates after them are dropped, even if
  // nothing overlaps them. Negative: all. 0: the output is data, without suppression and without a
  // conversion of the format, as in MXNet.
  int64_t topk = -1;
  // Columns of a row: the first of the four coordinates, the score, and the class. A negative
  // id_index means that boxes have no class, and then all boxes may suppress each other.
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = -1;
  // The class whose boxes are no candidates. Only used with id_index >= 0.
  int64_t background_id = -1;
  // Whether a box also suppresses boxes of other classes. Classes are compared as integers.
  bool force_suppress = false;
  // The formats of data and of output. As in MXNet, a box whose first coordinate is negative keeps
  // its format in a conversion.
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
    d.Enum("in_format", &BoxNmsParam::in_format, kBoxFormatNames)
        .Doc("corner: xmin, ymin, xmax, ymax; center: x, y, width, height");
    d.Enum("out_format", &BoxNmsParam::out_format, kBoxFormatNames)
        .Doc("as in_format; boxes that begin left of 0 keep the format that they have");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_NMS_PARAM_H_
