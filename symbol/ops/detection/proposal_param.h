#ifndef COOPER_SYMBOL_OPS_DETECTION_PROPOSAL_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_PROPOSAL_PARAM_H_

// Arrays and parameters of _contrib_Proposal and _contrib_MultiProposal, which turn the outputs of
// a region proposal network into regions (Ren et al., Faster R-CNN, 2015). The schemas are in
// proposal.cc, the rules for one box in executor/kernels/detection/proposal_box.h. MXNet:
// src/operator/contrib/proposal.cc, multi_proposal.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: cls_prob (batch_size, 2 * anchors, height, width), probabilities of the background and
// then of an object; bbox_pred (batch_size, 4 * anchors, height, width), four numbers of each
// anchor; im_info (batch_size, 3): height, width and scale of each image in pixels. There are
// ratios * scales anchors at each position.
//
// Outputs: output (batch_size * rpn_post_nms_top_n, 5), rows of sample, x1, y1, x2, y2 in pixels,
// the most probable first; score (batch_size * rpn_post_nms_top_n, 1), which is hidden unless
// output_score. Where fewer regions remain, they are repeated from the first on. All arrays are
// float32. The batch size of _contrib_Proposal is 1. There is no gradient.
struct ProposalArrays {
  enum Input { kClsProb, kBboxPred, kImInfo };
  enum Output { kOutput, kScore };
};

// Anchors are moved and scaled by bbox_pred and limited to the image. Regions beyond the image's
// part of the map, and those with a side below rpn_min_size * scale, come last, with the score -1.
// Non-maximum suppression follows.
struct ProposalParam {
  // The most probable regions that take part in non-maximum suppression; all if not above 0.
  int64_t rpn_pre_nms_top_n = 6000;
  // Regions of each image in the output.
  int64_t rpn_post_nms_top_n = 300;
  // A region is suppressed if it overlaps a more probable one by more than this.
  float threshold = 0.7F;
  // Least side of a region, in pixels of the image before it was scaled.
  int64_t rpn_min_size = 16;
  // Sides of the anchors, in units of feature_stride, and their ratios of height to width.
  std::vector<float> scales = {4, 8, 16, 32};
  std::vector<float> ratios = {0.5, 1, 2};
  // Pixels of the image for each position.
  int64_t feature_stride = 16;
  // Whether score is visible.
  bool output_score = false;
  // Whether bbox_pred is added to the corners of anchors, instead of being the shift of the center
  // and the logarithm of the factor of the sides.
  bool iou_loss = false;

  int64_t anchors() const { return static_cast<int64_t>(scales.size() * ratios.size()); }

  static void Declare(ParamDeclaration<ProposalParam>& d) {
    // The limit keeps products of a position and the stride within int64.
    constexpr double kMaxCount = 2147483647;
    d.Field("rpn_pre_nms_top_n", &ProposalParam::rpn_pre_nms_top_n)
        .Doc("most probable regions that are not ignored; all if not above 0");
    d.Field("rpn_post_nms_top_n", &ProposalParam::rpn_post_nms_top_n)
        .Min(1)
        .Max(kMaxCount)
        .Doc("regions of each image");
    d.Field("threshold", &ProposalParam::threshold)
        .Doc("a region that overlaps a more probable one by more than this is dropped");
    d.Field("rpn_min_size", &ProposalParam::rpn_min_size)
        .Doc("least side of a region, before the image was scaled");
    d.Field("scales", &ProposalParam::scales).Doc("sides of anchors, in units of feature_stride");
    d.Field("ratios", &ProposalParam::ratios).Doc("heights of anchors, divided by their widths");
    d.Field("feature_stride", &ProposalParam::feature_stride)
        .Min(1)
        .Max(kMaxCount)
        .Doc("pixels of the image for each position of the inputs");
    d.Field("output_score", &ProposalParam::output_score)
        .Doc("whether there is a second output, the probability of each region");
    d.Field("iou_loss", &ProposalParam::iou_loss)
        .Doc("whether bbox_pred is added to corners of anchors");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_PROPOSAL_PARAM_H_
