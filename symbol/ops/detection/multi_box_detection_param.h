#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_DETECTION_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_DETECTION_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: cls_prob (batch_size, classes, anchors), loc_pred (batch_size, anchors * 4), anchor (1,
// anchors, 4). The output is (batch_size, anchors, 6).
struct MultiBoxDetectionArrays {
  enum Input { kClsProb, kLocPred, kAnchor };
};

struct MultiBoxDetectionParam {
  bool clip = true;
  float threshold = 0.01;
  int64_t background_id = 0;
  float nms_threshold = 0.5;
  bool force_suppress = false;
  std::vector<float> variances = {0.1, 0.1, 0.2, 0.2};
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
