#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_TARGET_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_TARGET_EXTENTS_H_

// The extents of _contrib_MultiBoxTarget, for its kernels of both devices. anchor_matcher.h has the
// matching.

#include <cstdint>

#include "absl/types/span.h"
#include "executor/kernels/detection/anchor_matcher.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/multi_box_target_param.h"

namespace cooper {

// The extents of _contrib_MultiBoxTarget's inputs: anchor (1, anchors, 4), label (images, labels,
// label_width) and cls_pred (images, classes, anchors). A label is (class, xmin, ymin, xmax, ymax,
// ...), so label_width is at least 5; classes count the background.
struct TargetExtents {
  int64_t images, anchors, labels, label_width, classes;

  // Reads the shapes alone, so the inputs may have no memory yet. `inputs` are those of the node.
  explicit TargetExtents(absl::Span<const ArrayView> inputs) {
    using enum MultiBoxTargetArrays::Input;
    const Shape &label = inputs[kLabel].shape, &cls_pred = inputs[kClsPred].shape;
    images = cls_pred[0];
    anchors = cls_pred[2];
    labels = label[1];
    label_width = label[2];
    classes = cls_pred[1];
  }

  // Returns the scratch bytes for the matching of one image, a multiple of 64. The workspace has as
  // many for each image. Host code.
  int64_t ScratchBytes() const {
    ScratchCursor cursor(nullptr);
    const MatchScratch scratch(anchors, labels, cursor);
    return cursor.bytes();
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_TARGET_EXTENTS_H_
