#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SSD_DETECTION_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SSD_DETECTION_H_

// The rules of _contrib_MultiBoxDetection for one or two anchors, for its kernels of both devices.
// MXNet: src/operator/contrib/multibox_detection.cc. The kernels detect an object per anchor, move
// the objects of each image to the front, sort the most probable ones, and suppress overlapping
// ones: they set their class to -1.

#include <cstdint>

#include "executor/kernels/detection/anchor_box.h"
#include "executor/kernels/detection/box.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/detection/multi_box_detection_param.h"

namespace cooper {

// The extents of the inputs, from the shape of cls_prob (images, classes, anchors). The classes
// include the background.
struct DetectionExtents {
  int64_t images, classes, anchors;

  explicit DetectionExtents(const Shape& cls_prob)
      : images(cls_prob[0]), classes(cls_prob[1]), anchors(cls_prob[2]) {}
  // The rows of the output, (images, anchors, 6).
  COOPER_HOST_DEVICE int64_t rows() const { return images * anchors; }
};

// A row of the output: {id, probability, xmin, ymin, xmax, ymax}. T is float or double.
template <typename T>
struct Detection {
  static constexpr int kNumbers = 6;

  T id;  // the class, not counting the background; -1: none
  T probability;
  T box[4];  // corners

  // Returns the row of an anchor without an object: -1 everywhere.
  COOPER_HOST_DEVICE static Detection None() { return {-1, -1, {-1, -1, -1, -1}}; }
  // Returns whether the row has an object that is not suppressed.
  COOPER_HOST_DEVICE bool is_object() const { return id >= 0; }
  // Returns number i, 0 to 5, of the row in the output.
  COOPER_HOST_DEVICE T number(int i) const {
    return i == 0 ? id : i == 1 ? probability : box[i - 2];
  }
};

// The operator's parameters. A value that GPU kernels take by value.
struct DetectionRule {
  // The fields of MultiBoxDetectionParam, except that a topk of 0 or less is -1 here.
  float threshold, nms_threshold;
  bool clip, force_suppress;
  int64_t topk;  // -1: no limit
  BoxVariances variances;

  explicit DetectionRule(const MultiBoxDetectionParam& param)
      : threshold(param.threshold),
        nms_threshold(param.nms_threshold),
        clip(param.clip),
        force_suppress(param.force_suppress),
        topk(param.nms_topk > 0 ? param.nms_topk : -1),
        variances(param.variances) {}

  // Returns whether there is a suppression at all; without one, objects stay in the order of their
  // anchors.
  bool suppresses() const { return nms_threshold > 0 && nms_threshold <= 1; }

  // Returns the detection of an anchor: its most probable class other than the background, the
  // first one among equals, or None() if that is below the threshold. Class k has the probability
  // probabilities[k * stride]. `code` has the predicted offsets of the box, four numbers; `anchor`
  // the corners. A probability that is NaN counts as none.
  template <typename T>
  COOPER_HOST_DEVICE Detection<T> Detect(const T* probabilities, int64_t classes, int64_t stride,
                                         const T* code, const T* anchor) const {
    T best = -1;
    int64_t id = 0;
    for (int64_t k = 1; k < classes; ++k) {
      if (!(probabilities[k * stride] > best)) continue;
      best = probabilities[k * stride];
      id = k;
    }
    if (id == 0 || best < threshold) return Detection<T>::None();
    Detection<T> found = {static_cast<T>(id - 1), best, {}};
    DecodeBox(anchor, code, variances, clip, found.box);
    return found;
  }

  // Returns whether detection a suppresses b: whether they overlap by at least nms_threshold and,
  // unless force_suppress is set, have the same class.
  template <typename T>
  COOPER_HOST_DEVICE bool Suppresses(const Detection<T>& a, const Detection<T>& b) const {
    return (force_suppress || a.id == b.id) && CornerOverlap(a.box, b.box) >= nms_threshold;
  }
};

// Returns whether detection a of `rows` is ranked before b: by probability, then by position. A
// strict order of the rows, because Detect stores no probability that is NaN.
template <typename T>
COOPER_HOST_DEVICE bool IsMoreProbable(const Detection<T>* rows, int64_t a, int64_t b) {
  const T of_a = rows[a].probability, of_b = rows[b].probability;
  return of_a > of_b || (of_a == of_b && a < b);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_SSD_DETECTION_H_
