#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// An array seen as (outer, length, inner), where `length` is along the axis: outer * inner lines
// along it.
struct AxisView {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  // All axes as one without an axis. NormalizeAxis's errors.
  static absl::StatusOr<AxisView> Along(const Shape& shape, std::optional<int64_t> axis) {
    if (!axis.has_value()) return AxisView{1, shape.num_elements(), 1};
    COOPER_ASSIGN_OR_RETURN(const int a, NormalizeAxis(*axis, shape.rank()));
    return AxisView{shape.Product(0, a), shape[a], shape.Product(a + 1, shape.rank())};
  }

  // Whether lines have a greatest and a least element.
  absl::Status CheckSearchable() const {
    if (length != 0) return absl::OkStatus();
    return absl::InvalidArgumentError("argmax and argmin need at least one element on the axis");
  }

  COOPER_HOST_DEVICE int64_t lines() const { return outer * inner; }
  // The first element of a line; the others follow `inner` apart.
  COOPER_HOST_DEVICE int64_t First(int64_t line) const {
    return line / inner * length * inner + line % inner;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_VIEW_H_
