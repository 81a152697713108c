#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_PAD_COPIES_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_PAD_COPIES_H_

// Inverts PadParam::SourceOf along one axis, for the gradients of Pad, which sum the copies of each
// element. pad.cc and pad.cu use it.

#include <cstdint>

#include "ndarray/base/host_device.h"
#include "symbol/ops/shape/pad_param.h"

namespace cooper {

// The indices of a padded axis that have the value of one index of data, in ascending order: at
// most three, or, at the ends in mode edge, `count` from `at[0]` on.
struct PadCopies {
  int64_t at[3] = {}, count = 0;
  bool run = false;

  // Finds the copies of index `i` of data's axis, of extent `len`. The padded axis has extent
  // `padded` and `before` elements before data's. Requires the widths that the shape rule allows.
  COOPER_HOST_DEVICE PadCopies(PadParam::Mode mode, int64_t before, int64_t len, int64_t padded,
                               int64_t i) {
    if (mode == PadParam::kEdge) {
      run = true;
      at[0] = i == 0 ? 0 : before + i;
      count = (i == len - 1 ? padded : before + i + 1) - at[0];
      return;
    }
    const bool mirrors = mode == PadParam::kReflect || mode == PadParam::kSymmetric;
    // The distance from an end at which mirroring begins: reflect does not repeat the end itself.
    const int64_t first = mode == PadParam::kReflect ? 1 : 0;
    if (mirrors && i >= first && i < before + first) at[count++] = before - 1 + first - i;
    at[count++] = before + i;
    const int64_t behind = before + 2 * len - 1 - first - i;
    if (mirrors && len - 1 - i >= first && behind < padded) at[count++] = behind;
  }

  // Returns the k-th copy, 0 <= k < count.
  COOPER_HOST_DEVICE int64_t operator[](int64_t k) const { return run ? at[0] + k : at[k]; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_PAD_COPIES_H_
