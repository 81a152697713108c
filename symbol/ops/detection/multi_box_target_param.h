#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_TARGET_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_TARGET_PARAM_H_

// Arrays and parameters of _contrib_MultiBoxTarget, which computes the training targets of an SSD
// detector: it matches anchors with the labelled objects (Liu et al., SSD: Single Shot MultiBox
// Detector, 2016, 2.2). The schema is in multi_box_target.cc; the kernels share anchor_matcher.h in
// executor/kernels/detection. MXNet: src/operator/contrib/multibox_target.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: anchor (1, anchors, 4), corners as MultiBoxPrior returns them; label (batch_size, labels,
// label_width), rows of class, xmin, ymin, xmax, ymax and possibly more, where a class of -1 ends
// the list of an image; cls_pred (batch_size, classes, anchors), scores before the softmax, with
// the background as class 0, which are used only for hard negative mining.
//
// Outputs: loc_target (batch_size, anchors * 4), the offsets of the matched object from the anchor;
// loc_mask, of the same shape, 1 for a matched anchor and else 0; cls_target (batch_size, anchors),
// the object's class + 1, 0 for the background, or ignore_label. All arrays have one dtype, float32
// or float64; offsets are computed in float. There is no gradient.
struct MultiBoxTargetArrays {
  enum Input { kAnchor, kLabel, kClsPred };
  enum Output { kLocTarget, kLocMask, kClsTarget };
};

// The matching goes in three steps. 1. The pair of an object and an anchor with the largest overlap
// is matched, then the next pair of what remains, until each object has an anchor; overlaps up to
// 1e-6 do not count. 2. Each other anchor whose largest overlap with an object is above
// overlap_threshold is matched with that object. 3. The rest is background, or, with mining, only
// some of it. In an image without objects all anchors are ignored.
//
// With w, h, x, y the sides and the center of an anchor and of its object, and v the variances, the
// offsets are ((x' - x) / w / v0, (y' - y) / h / v1, log(w' / w) / v2, log(h' / h) / v3).
struct MultiBoxTargetParam {
  // Step 2 is left out if this is not above 0.
  float overlap_threshold = 0.5;
  // cls_target of anchors that are neither matched nor background. SoftmaxOutput with use_ignore
  // and this ignore_label gives them no gradient.
  float ignore_label = -1;
  // Hard negative mining, if above 0: the number of background anchors per matched anchor. Those
  // with the least probability of the background, by the softmax of cls_pred, are taken; the other
  // unmatched anchors are ignored.
  float negative_mining_ratio = -1;
  // Mining takes only anchors whose largest overlap with an object is below this. Must be above 0
  // with mining.
  float negative_mining_thresh = 0.5;
  // Has no effect, as in MXNet's kernel for CPUs.
  int64_t minimum_negative_samples = 0;
  // The divisors v of the offsets: x, y, width, height.
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
