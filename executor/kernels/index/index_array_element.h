#ifndef COOPER_EXECUTOR_KERNELS_INDEX_INDEX_ARRAY_ELEMENT_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_INDEX_ARRAY_ELEMENT_H_

// The function of _contrib_index_array, for both devices.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/index_array_param.h"

namespace cooper {

// Maps an element of the output (..., count) to its value: the position of element i / count of
// data along the axis number i % count. A plain value of about 520 bytes, which GPU kernels take as
// an argument. The arrays beyond `count` are not read.
struct IndexArrayElement {
  static constexpr int kMaxAxes = 32;

  int64_t count = 0;
  int64_t strides[kMaxAxes] = {};
  int64_t extents[kMaxAxes] = {};

  COOPER_HOST_DEVICE int64_t operator()(int64_t i) const {
    const int64_t element = i / count, axis = i - element * count;
    return element / strides[axis] % extents[axis];
  }

  // Returns the function for an array of shape `data`. Fails with kUnimplemented for more than
  // kMaxAxes axes. Fails with kInvalidArgument for an axis out of range, as NormalizeAxis does.
  static absl::StatusOr<IndexArrayElement> Of(const Shape& data, const IndexArrayParam& param) {
    IndexArrayElement element;
    element.count = param.axes.has_value() ? static_cast<int64_t>(param.axes->size()) : data.rank();
    if (element.count > kMaxAxes) {
      return absl::UnimplementedError(absl::StrCat(element.count, " axes, at most ", kMaxAxes));
    }
    for (int i = 0; i < element.count; ++i) {
      int axis = i;
      if (param.axes.has_value()) {
        COOPER_ASSIGN_OR_RETURN(axis, NormalizeAxis((*param.axes)[i], data.rank()));
      }
      element.strides[i] = data.Product(axis + 1, data.rank());
      element.extents[i] = data[axis];
    }
    return element;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_INDEX_ARRAY_ELEMENT_H_
