#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// An array viewed as (outer, length, inner), where `length` is the extent of one axis, for argmax,
// argmin and running sums along it. Its outer * inner lines are vectors of `length` elements along
// the axis. For example, axis 1 of (2, 3, 4) gives outer 2, length 3, inner 4.
struct AxisView {
  // The product of the extents before the axis, its extent, and the product of those after it.
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  // Returns the view along `axis`, or of all axes as one if there is none. `axis` may be negative:
  // then it counts from the end. As in NumPy, a shape without axes has one element along axis 0.
  //
  // Errors: those of NormalizeAxis.
  static absl::StatusOr<AxisView> Along(const Shape& shape, std::optional<int64_t> axis) {
    if (!axis.has_value()) return AxisView{1, shape.num_elements(), 1};
    COOPER_ASSIGN_OR_RETURN(const int a, NormalizeAxis(*axis, std::max(shape.rank(), 1)));
    if (shape.rank() == 0) return AxisView{};
    return AxisView{shape.Product(0, a), shape[a], shape.Product(a + 1, shape.rank())};
  }

  // Returns kInvalidArgument if lines have no element, and so no maximum and no minimum. It is
  // called before a search, whose first candidate is element 0 of the line.
  absl::Status CheckSearchable() const {
    if (length != 0) return absl::OkStatus();
    return absl::InvalidArgumentError("argmax and argmin need at least one element on the axis");
  }

  // Returns the number of lines, which is the size of a result with one element for each.
  COOPER_HOST_DEVICE int64_t lines() const { return outer * inner; }
  // Returns the index of a line's first element; its elements are `inner` apart. Lines are numbered
  // in memory order: line k is (k / inner, k % inner).
  COOPER_HOST_DEVICE int64_t First(int64_t line) const {
    return line / inner * length * inner + line % inner;
  }
};

// Returns the axis of argmax_channel: 1, or 0 for a vector. nullopt for an array without axes,
// which is searched as an array of one element.
inline std::optional<int64_t> ChannelAxis(const Shape& data) {
  if (data.rank() == 0) return std::nullopt;
  return data.rank() > 1 ? 1 : 0;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_
