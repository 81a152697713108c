#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_BOX_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_BOX_H_

// The regions of _contrib_Proposal and _contrib_MultiProposal before suppression, and their
// overlap, for the kernels of both devices. MXNet: src/operator/contrib/multi_proposal.cc.
// Coordinates are pixels, and both corners belong to a box: its width is x2 - x1 + 1. Intermediate
// results are double where MXNet's are.

#include <cmath>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/detection/proposal_param.h"

namespace cooper {

// The corners of a box: x1, y1, x2, y2. A plain value.
struct ProposalBox {
  float corner[4];

  COOPER_HOST_DEVICE float Width() const { return corner[2] - corner[0] + 1; }
  COOPER_HOST_DEVICE float Height() const { return corner[3] - corner[1] + 1; }
  COOPER_HOST_DEVICE float Area() const { return Width() * Height(); }
};

// Returns anchor `a` of the position in the upper left corner: the ratio a / scales, and the scale
// a % scales. Host code. Requires 0 <= a < param.anchors(). The anchor is centered on the first
// cell of feature_stride pixels; its area before scaling is about that of the cell. Rounding
// follows MXNet, so corners may be fractions.
inline ProposalBox ProposalAnchor(const ProposalParam& param, int64_t a) {
  const auto scales = static_cast<int64_t>(param.scales.size());
  const float ratio = param.ratios[a / scales], scale = param.scales[a % scales];
  const auto side = static_cast<float>(param.feature_stride);
  const auto center = static_cast<float>(0.5 * (side - 1.0F));
  const float area = std::floor(side * side / ratio);
  const float width = std::floor(std::sqrt(area) + 0.5F) * scale;
  const float height = std::floor(width / scale * ratio + 0.5F) * scale;
  const float half_width = 0.5F * (width - 1), half_height = 0.5F * (height - 1);
  return {center - half_width, center - half_height, center + half_width, center + half_height};
}

// A box and its score; -1 marks a region that is ignored as long as there are others.
struct ScoredProposal {
  ProposalBox box;
  float score;
};

// The extents of the inputs, and the parameters that the rule for one box needs. Passed to kernels
// by value. The inputs are cls_prob (images, 2 * anchors, height, width), of which the second half
// of the channels are scores of objects, bbox_pred (images, 4 * anchors, height, width) and im_info
// (images, 3): height, width and scale of the image, in pixels of the network's input.
struct ProposalGrid {
  int64_t images, anchors, height, width;
  float stride, min_size;
  bool iou_loss;

  // `scores` is the shape of cls_prob.
  ProposalGrid(const ProposalParam& param, const Shape& scores)
      : images(scores[0]),
        anchors(param.anchors()),
        height(scores[2]),
        width(scores[3]),
        stride(static_cast<float>(param.feature_stride)),
        min_size(static_cast<float>(param.rpn_min_size)),
        iou_loss(param.iou_loss) {}

  COOPER_HOST_DEVICE int64_t positions() const { return height * width; }
  // The boxes of an image. Box (position * anchors + a) is anchor a at that position.
  COOPER_HOST_DEVICE int64_t boxes() const { return positions() * anchors; }

  // Return how many rows and columns of positions an image covers. `info` is its row of im_info.
  // Positions beyond them are padding of a batch of images of different sizes: Decode gives their
  // regions the score -1.
  COOPER_HOST_DEVICE int64_t RowsOf(const float* info) const {
    return IntegerOf<int64_t>(info[0] / stride);
  }
  COOPER_HOST_DEVICE int64_t ColumnsOf(const float* info) const {
    return IntegerOf<int64_t>(info[1] / stride);
  }

  // Returns the region of anchor `a`, which is `anchor`, at a position. The pointers are those of
  // the image in cls_prob, bbox_pred and im_info. With iou_loss the four deltas are added to the
  // corners; without it they move the center by parts of the sides and scale the sides by
  // exponentials. Corners are limited to the image. A region whose side is below min_size times the
  // image's scale gets the score -1.
  COOPER_HOST_DEVICE ScoredProposal Decode(const float* scores, const float* deltas,
                                           const float* info, const ProposalBox& anchor, int64_t a,
                                           int64_t position) const {
    const int64_t row = position / width, column = position - row * width;
    const float x = static_cast<float>(column) * stride, y = static_cast<float>(row) * stride;
    const ProposalBox at = {anchor.corner[0] + x, anchor.corner[1] + y, anchor.corner[2] + x,
                            anchor.corner[3] + y};
    const float* d = deltas + a * 4 * positions() + position;
    ScoredProposal result;
    for (int axis = 0; axis < 2; ++axis) {
      const float first = d[axis * positions()], second = d[(axis + 2) * positions()];
      float low = at.corner[axis] + first, high = at.corner[axis + 2] + second;
      if (!iou_loss) {
        const float side = axis == 0 ? at.Width() : at.Height();
        const auto center = static_cast<float>(at.corner[axis] + 0.5 * (side - 1.0));
        const float moved = first * side + center;
        const float scaled = std::exp(second) * side;
        low = static_cast<float>(moved - 0.5 * (scaled - 1.0));
        high = static_cast<float>(moved + 0.5 * (scaled - 1.0));
      }
      const float last = info[1 - axis] - 1;
      result.box.corner[axis] = Limit(low, last);
      result.box.corner[axis + 2] = Limit(high, last);
    }
    const bool is_padding = row >= RowsOf(info) || column >= ColumnsOf(info);
    result.score = is_padding ? -1 : scores[(anchors + a) * positions() + position];
    const float least = min_size * info[2];
    if (result.box.Width() < least || result.box.Height() < least) {
      // The box grows, as in MXNet; it only matters if too few others remain.
      for (int i = 0; i < 4; ++i) result.box.corner[i] += (i < 2 ? -least : least) / 2;
      result.score = -1;
    }
    return result;
  }

 private:
  COOPER_HOST_DEVICE static float Limit(float value, float last) {
    const float below = last < value ? last : value;
    return below < 0 ? 0.0F : below;
  }
};

// Returns intersection over union of two boxes, which have the areas area_a and area_b. It is in
// [0, 1], or NaN if a corner is NaN or both boxes are empty. Without branches, so that loops over
// boxes become vector instructions.
COOPER_HOST_DEVICE inline float ProposalOverlap(const ProposalBox& a, float area_a,
                                                const ProposalBox& b, float area_b) {
  const float x1 = a.corner[0] < b.corner[0] ? b.corner[0] : a.corner[0];
  const float y1 = a.corner[1] < b.corner[1] ? b.corner[1] : a.corner[1];
  const float x2 = b.corner[2] < a.corner[2] ? b.corner[2] : a.corner[2];
  const float y2 = b.corner[3] < a.corner[3] ? b.corner[3] : a.corner[3];
  const float width = x2 - x1 + 1, height = y2 - y1 + 1, product = width * height;
  const float shared = width > 0 ? (height > 0 ? product : 0.0F) : 0.0F;
  return shared / (area_a + area_b - shared);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_BOX_H_
