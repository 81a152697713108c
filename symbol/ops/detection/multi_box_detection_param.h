#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_DETECTION_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_DETECTION_PARAM_H_

// Inputs and parameters of _contrib_MultiBoxDetection, the last step of an SSD detector: it turns
// the predictions for anchors into boxes (Liu et al., SSD: Single Shot MultiBox Detector, 2016).
// The schema is in multi_box_detection.cc; the kernels of both devices share ssd_detection.h and
// anchor_box.h in executor/kernels/detection. MXNet: src/operator/contrib/multibox_detection.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: cls_prob (batch_size, classes, anchors), the probabilities with the background as class
// 0; loc_pred (batch_size, anchors * 4), the offsets of each anchor's box; anchor (1, anchors, 4),
// corners xmin, ymin, xmax, ymax as parts of the image's extents. The output is (batch_size,
// anchors, 6), each row class - 1, probability, xmin, ymin, xmax, ymax. Rows without an object have
// -1 as the class. All arrays have one dtype, float32 or float64. There is no gradient.
struct MultiBoxDetectionArrays {
  enum Input { kClsProb, kLocPred, kAnchor };
};

// With w, h, x, y the sides and the center of an anchor and p its predicted offsets, the box has
// the center (p0 * v0 * w + x, p1 * v1 * h + y) and the sides (exp(p2 * v2) * w, exp(p3 * v3) * h),
// where v are the variances. The boxes of an image are sorted by probability; then a box whose
// overlap with an earlier one of its class is at least nms_threshold is suppressed.
struct MultiBoxDetectionParam {
  // Whether coordinates are limited to [0, 1].
  bool clip = true;
  // An anchor whose most probable class other than the background is below this has no object.
  float threshold = 0.01;
  // Has no effect, as in MXNet: class 0 is the background.
  int64_t background_id = 0;
  // Least overlap that suppresses. Outside of (0, 1] nothing is suppressed.
  float nms_threshold = 0.5;
  // Whether boxes of different classes suppress each other too.
  bool force_suppress = false;
  // The factors v of the offsets: x, y, width, height. They must equal those of MultiBoxTarget in
  // training.
  std::vector<float> variances = {0.1, 0.1, 0.2, 0.2};
  // Number of boxes of an image that are kept before suppression; all if it is not above 0.
  int64_t nms_topk = -1;

  static void Declare(ParamDeclaration<MultiBoxDetectionParam>& d) {
    d.Field("clip", &MultiBoxDetectionParam::clip)
        .Doc("whether boxes end at the edges of the image");
    d.Field("threshold", &MultiBoxDetectionParam::threshold)
        .Doc("anchors whose greatest probability of an object is below this are background");
    d.Field("background_id", &MultiBoxDetectionParam::background_id)
        .Doc("accepted, without a meaning, as in MXNet: class 0 is the background");
    d.Field("nms_threshold", &MultiBoxDetectionParam::nms_threshold)
        .Doc(
            "boxes that overlap one of a greater probability by as much are suppressed; none are "
            "unless it is above 0 and not above 1");
    d.Field("force_suppress", &MultiBoxDetectionParam::force_suppress)
        .Doc("whether boxes of different classes suppress each other too");
    d.Field("variances", &MultiBoxDetectionParam::variances)
        .Doc("what loc_pred's x, y, width and height are multiplied by");
    d.Field("nms_topk", &MultiBoxDetectionParam::nms_topk)
        .Doc("how many boxes of an image are kept before suppression; all if not above 0");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_DETECTION_PARAM_H_
