#ifndef COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_AXIS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_AXIS_H_

// Helpers for an axis that is indexed or sorted, and the errors of such kernels, for every device:
// take, pick, Embedding, gather_nd, index_copy, topk, sort and argsort.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/strided_loop.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/index/take_param.h"

namespace cooper {

// An array viewed as (outer, n, inner) around `axis`, which counts from the end if negative.
// nullopt views the array as one axis: (2, 3, 4) and the axis 1 give (2, 3, 4), the axis 0 gives
// (1, 2, 12), nullopt gives (1, 24, 1).
struct IndexedExtents {
  int64_t outer = 1, n = 1, inner = 1;

  IndexedExtents(const Shape& shape, std::optional<int> axis) {
    if (!axis.has_value()) {
      n = shape.num_elements();
      return;
    }
    const int at = *axis < 0 ? *axis + shape.rank() : *axis;
    outer = shape.Product(0, at);
    n = shape[at];
    inner = StrideOf(shape, at);
  }

  // The number of rows, each of n elements `inner` apart.
  int64_t rows() const { return outer * inner; }
};

// Returns the position of an index on an axis of n > 0 elements. kClip takes the nearest position,
// so -1 is 0; kWrap takes the index modulo n, so -1 is n - 1. Treats kRaise as kClip: the kernel
// has checked the indices before. The result is valid for every int64 index, so kernels never read
// outside of an array.
COOPER_HOST_DEVICE inline int64_t IndexInRange(int64_t index, int64_t n, IndexMode mode) {
  if (mode == IndexMode::kWrap) {
    index %= n;
    return index < 0 ? index + n : index;
  }
  return index < 0 ? 0 : (index < n ? index : n - 1);
}

// Returns the kInvalidArgument of take with mode raise, naming the index, the axis and the shape.
inline absl::Status TakeIndexError(int64_t index, int axis, const Shape& data) {
  return absl::InvalidArgumentError(absl::StrCat("take: index ", index,
                                                 " is out of range for axis ", axis,
                                                 " of input 'a' ", data.ToString()));
}

// Returns the kInvalidArgument of gather_nd and similar operators for an index, as it was given, on
// an axis of an array of shape `whole`.
inline absl::Status CoordinateOutOfRange(int64_t index, int64_t axis, const Shape& whole) {
  return absl::InvalidArgumentError(absl::StrCat("index ", index, " is out of range for axis ",
                                                 axis, " of an array of shape ", whole.ToString()));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_AXIS_H_
