#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_NMS_RULE_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_NMS_RULE_H_

// The rules of _contrib_box_nms for one or two boxes, for its kernels of both devices. MXNet:
// src/operator/contrib/bounding_box-inl.h. The kernels select candidates, sort them, suppress them
// by greedy_suppression.h or its counterparts of the GPU, and write the remaining rows, best first,
// then rows of -1. With the default parameters and rows (class, score, xmin, ymin, xmax, ymax):
//
//   data                       output
//   (0, 0.6, 0, 0, 10, 10)     (1, 0.9, 1, 0, 10, 10)
//   (1, 0.9, 1, 0, 10, 10)     (2, 0.4, 20, 20, 30, 30)
//   (2, 0.4, 20, 20, 30, 30)   (-1, -1, -1, -1, -1, -1)
//
// The classes do not matter, because id_index is -1 by default.

#include <cstdint>

#include "executor/kernels/detection/box.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/box_nms_param.h"

namespace cooper {

// Holds the operator's parameters. A box is a row of `width` numbers, which has a score, four
// coordinates and possibly a class, at positions that the parameters give. T is float or double. A
// value that GPU kernels take by value; functions are thread-safe.
template <typename T>
class NmsRule {
 public:
  NmsRule(const BoxNmsParam& param, int64_t width)
      : width_(width),
        box_(param.coord_start),
        score_(param.score_index),
        id_(param.id_index),
        by_class_(param.id_index >= 0 && !param.force_suppress),
        min_score_(static_cast<T>(param.valid_thresh)),
        background_(static_cast<T>(param.background_id)),
        max_overlap_(static_cast<T>(param.overlap_thresh)),
        in_(param.in_format),
        // Without suppression the boxes stay unchanged.
        out_(param.topk == 0 ? param.in_format : param.out_format) {}

  // Returns whether the box has a score above the threshold and is not of the background class. A
  // NaN score is no candidate.
  COOPER_HOST_DEVICE bool IsCandidate(const T* row) const {
    return row[score_] > min_score_ && !(id_ >= 0 && row[id_] == background_);
  }

  COOPER_HOST_DEVICE T Score(const T* row) const { return row[score_]; }

  // Returns whether candidate a of `rows` is ranked before b: by score, then by position.
  COOPER_HOST_DEVICE bool IsBefore(const T* rows, int64_t a, int64_t b) const {
    const T of_a = rows[a * width_ + score_], of_b = rows[b * width_ + score_];
    return of_a > of_b || (of_a == of_b && a < b);
  }

  // Returns whether box a suppresses b: whether they overlap by more than overlap_thresh and,
  // unless force_suppress is set, have the same class, compared as integers. Two boxes without an
  // area have the overlap 0 / 0, which suppresses nothing.
  COOPER_HOST_DEVICE bool Suppresses(const T* a, const T* b) const {
    if (by_class_ && IntegerOf<int32_t>(a[id_]) != IntegerOf<int32_t>(b[id_])) return false;
    const T shared = BoxIntersection(a + box_, b + box_, in_);
    if (shared == 0 && max_overlap_ >= 0) return false;
    const T all = BoxArea(a + box_, in_) + BoxArea(b + box_, in_) - shared;
    return shared / all > max_overlap_;
  }

  // Returns number i of the output's row for the box `row`: the coordinates in the output's format,
  // other numbers unchanged.
  COOPER_HOST_DEVICE T Output(const T* row, int64_t i) const {
    const int64_t in_box = i - box_;
    return in_box >= 0 && in_box < 4 ? BoxNumberIn(out_, row + box_, in_box, in_) : row[i];
  }

 private:
  int64_t width_, box_, score_, id_;
  bool by_class_;
  T min_score_, background_, max_overlap_;
  BoxFormat in_, out_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_NMS_RULE_H_
