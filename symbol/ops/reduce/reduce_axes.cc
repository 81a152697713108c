#include "symbol/ops/reduce/reduce_axes.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<uint64_t> ReducedAxes(const OptionalAxes& axes, bool exclude, int rank) {
  if (rank > 63) return absl::InvalidArgumentError("a reduction of more than 63 axes");
  const uint64_t all = (uint64_t{1} << rank) - 1;
  if (!axes.has_value() || axes->empty()) return all;
  uint64_t given = 0;
  for (int64_t axis : *axes) {
    COOPER_ASSIGN_OR_RETURN(const int a, NormalizeAxis(axis, rank));
    if ((given >> a) & 1) {
      return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " is given twice"));
    }
    given |= uint64_t{1} << a;
  }
  return exclude ? all & ~given : given;
}

PartialShape ReducedShape(const PartialShape& shape, uint64_t reduced, bool keepdims) {
  absl::InlinedVector<int64_t, 5> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (((reduced >> axis) & 1) == 0) {
      dims.push_back(shape[axis]);
    } else if (keepdims) {
      dims.push_back(1);
    }
  }
  if (dims.empty()) dims.push_back(1);
  return PartialShape(dims);
}

}  // namespace cooper
