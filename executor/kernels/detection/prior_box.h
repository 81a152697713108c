#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_PRIOR_BOX_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_PRIOR_BOX_H_

// The boxes of _contrib_MultiBoxPrior, for its kernels. They are computed in float for every dtype,
// as in MXNet (src/operator/contrib/multibox_prior.cc). The output is (1, height * width * kinds,
// 4): for each pixel of a feature map, in row-major order, boxes of several sizes and aspect ratios
// around the pixel's center, in fractions of the image.

#include <cmath>
#include <cstdint>

#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/multi_box_prior_param.h"

namespace cooper {

// The size and the aspect ratio, width to height, of one of the boxes of each pixel. A size of 1 is
// the height of the image.
struct PriorKind {
  float size, ratio;
};

// Return the number of kinds, and kind number `kind` from 0. The kinds are all sizes with the first
// ratio, then the first size with the other ratios: s + r - 1 kinds for s sizes and r ratios, of
// which there is at least one each.
inline int64_t NumPriorKinds(const MultiBoxPriorParam& param) {
  return static_cast<int64_t>(param.sizes.size() + param.ratios.size()) - 1;
}
inline PriorKind PriorKindAt(const MultiBoxPriorParam& param, int64_t kind) {
  const auto num_sizes = static_cast<int64_t>(param.sizes.size());
  if (kind < num_sizes) return {param.sizes[kind], param.ratios[0]};
  return {param.sizes[0], param.ratios[kind - num_sizes + 1]};
}

// The parameters of the boxes of an image. A value that GPU kernels take by value. steps and
// offsets are (y, x); a step is the distance of two pixels, and defaults to 1 / height and 1 /
// width.
struct PriorBoxes {
  int64_t height, width;  // in pixels
  float step_y, step_x, offset_y, offset_x;
  bool clip;

  PriorBoxes(const MultiBoxPriorParam& param, int64_t num_rows, int64_t num_columns)
      : height(num_rows),
        width(num_columns),
        step_y(param.steps[0]),
        step_x(param.steps[1]),
        offset_y(param.offsets[0]),
        offset_x(param.offsets[1]),
        clip(param.clip) {
    if (step_y > 0 && step_x > 0) return;
    step_y = 1.0F / static_cast<float>(height);
    step_x = 1.0F / static_cast<float>(width);
  }

  // Returns corner `corner` (0 to 3: xmin, ymin, xmax, ymax) of the box of the given size and ratio
  // at a pixel, limited to [0, 1] with `clip`:
  //
  //   x = (column + offset_x) * step_x -+ size * height / width * sqrt(ratio) / 2
  //   y = (row + offset_y) * step_y -+ size / sqrt(ratio) / 2
  //
  // The factor height / width makes a box of ratio 1 square in pixels. For a map of 2 x 2 pixels
  // and offsets of 0.5, the box of size 0.5 and ratio 1 at pixel (0, 0) is (0, 0, 0.5, 0.5).
  COOPER_HOST_DEVICE float Corner(int64_t row, int64_t column, float size, float ratio,
                                  int corner) const {
    const bool is_x = corner % 2 == 0;
    const float root = std::sqrt(ratio);
    const float center = is_x ? (static_cast<float>(column) + offset_x) * step_x
                              : (static_cast<float>(row) + offset_y) * step_y;
    const float half =
        is_x ? size * static_cast<float>(height) / static_cast<float>(width) * root / 2
             : size / root / 2;
    const float value = corner < 2 ? center - half : center + half;
    if (!clip) return value;
    return value < 0 ? 0 : value > 1 ? 1 : value;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_PRIOR_BOX_H_
