#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_BOX_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_BOX_H_

// Converts between a box and its offsets from an anchor: differences of the centers in units of the
// anchor's sides, and logarithms of the ratios of the sides, each divided by a variance. Liu et
// al., SSD: Single Shot MultiBox Detector, 2016; MXNet: src/operator/contrib/multibox_target.cc and
// multibox_detection.cc.
//
// EncodeBox makes the training targets of _contrib_MultiBoxTarget (anchor_matcher.h), DecodeBox the
// boxes of _contrib_MultiBoxDetection (ssd_detection.h). Boxes are corners (xmin, ymin, xmax,
// ymax), usually in fractions of the image. Host and device; thread-safe.

#include <cmath>
#include <vector>

#include "ndarray/base/host_device.h"

namespace cooper {

// The divisors of the four offsets, which scale them to about unit variance. A value that kernels
// take by value.
struct BoxVariances {
  float x, y, width, height;

  // Takes a parameter with four numbers, in this order. The size has been checked by the schema.
  explicit BoxVariances(const std::vector<float>& variances)
      : x(variances[0]), y(variances[1]), width(variances[2]), height(variances[3]) {}
};

// Computes the four offsets of `box` from `anchor`, which an SSD predicts; both are corners:
//
//   code = {dx / width / v.x, dy / height / v.y,
//           log(box width / width) / v.width, log(box height / height) / v.height}
//
// where dx and dy are the differences of the centers and width and height the anchor's sides. With
// the variances (0.1, 0.1, 0.2, 0.2) the box (0.2, 0, 1.2, 1) has the code (2, 0, 0, 0) for the
// anchor (0, 0, 1, 1). Computes in float for every T, as MXNet does. An anchor without an area
// gives infinities or NaN, a box without an area -infinity.
template <typename T>
COOPER_HOST_DEVICE void EncodeBox(const T* anchor, const T* box, const BoxVariances& v,
                                  float* code) {
  const auto a0 = static_cast<float>(anchor[0]), a1 = static_cast<float>(anchor[1]),
             a2 = static_cast<float>(anchor[2]), a3 = static_cast<float>(anchor[3]);
  const auto b0 = static_cast<float>(box[0]), b1 = static_cast<float>(box[1]),
             b2 = static_cast<float>(box[2]), b3 = static_cast<float>(box[3]);
  const float width = a2 - a0, height = a3 - a1;
  code[0] = ((b0 + b2) * 0.5F - (a0 + a2) * 0.5F) / width / v.x;
  code[1] = ((b1 + b3) * 0.5F - (a1 + a3) * 0.5F) / height / v.y;
  code[2] = std::log((b2 - b0) / width) / v.width;
  code[3] = std::log((b3 - b1) / height) / v.height;
}

// Computes the corners of a predicted box from its offsets `code`, limited to [0, 1] if `clip`: the
// inverse of EncodeBox, in T. With `clip` a NaN corner becomes 1. `box` has four elements.
template <typename T>
COOPER_HOST_DEVICE void DecodeBox(const T* anchor, const T* code, const BoxVariances& v, bool clip,
                                  T* box) {
  // The center moves by offsets in units of the anchor's sides; the sides scale exponentially.
  const T width = anchor[2] - anchor[0], height = anchor[3] - anchor[1];
  const T x = code[0] * v.x * width + (anchor[0] + anchor[2]) / 2;
  const T y = code[1] * v.y * height + (anchor[1] + anchor[3]) / 2;
  const T half_width = std::exp(code[2] * v.width) * width / 2;
  const T half_height = std::exp(code[3] * v.height) * height / 2;
  box[0] = x - half_width;
  box[1] = y - half_height;
  box[2] = x + half_width;
  box[3] = y + half_height;
  if (!clip) return;
  for (int i = 0; i < 4; ++i) box[i] = box[i] < 1 ? (box[i] > 0 ? box[i] : T{0}) : T{1};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_BOX_H_
