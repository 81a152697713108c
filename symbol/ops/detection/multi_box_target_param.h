#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_TARGET_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_TARGET_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: anchor (1, anchors, 4), label (batch_size, labels, label_width), cls_pred (batch_size,
// classes, anchors). Outputs: loc_target and loc_mask (batch_size, anchors * 4), cls_target
// (batch_size, anchors).
struct MultiBoxTargetArrays {
  enum Input { kAnchor, kLabel, kClsPred };
  enum Output { kLocTarget, kLocMask, kClsTarget };
};

struct MultiBoxTargetParam {
  float overlap_threshold = 0.5;
  float ignore_label = -1;
  float negative_mining_ratio = -1;
  float negative_mining_thresh = 0.5;
  int64_t minimum_negative_samples = 0;
  std::vector<float> variances = {0.1, 0.1, 0.2, 0.2};

  static void Declare(ParamDeclaration<MultiBoxTargetParam>& d) {
    d.Field("overlap_threshold", &MultiBoxTargetParam::overlap_threshold)
        .Doc(
            "anchors that overlap an object by more than this are matched with it, beside the one "
            "that fits it best");
    d.Field("ignore_label", &MultiBoxTargetParam::ignore_label)
        .Doc("cls_target of anchors that count as neither object nor background");
    d.Field("negative_mining_ratio", &MultiBoxTargetParam::negative_mining_ratio)
        .Doc(
            "background anchors for each matched one, those that are least sure of it; all if not "
            "above 0");
    d.Field("negative_mining_thresh", &MultiBoxTargetParam::negative_mining_thresh)
        .Doc("an anchor that overlaps an object by as much is not taken for background by mining");
    d.Field("minimum_negative_samples", &MultiBoxTargetParam::minimum_negative_samples)
        .Doc("accepted, without a meaning, as in MXNet on a CPU");
    d.Field("variances", &MultiBoxTargetParam::variances)
        .Doc("what loc_target's x, y, width and height are divided by");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_TARGET_PARAM_H_
