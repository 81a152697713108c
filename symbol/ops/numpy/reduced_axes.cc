#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/ops/reduce/reduce_axes.h"

namespace cooper {

absl::StatusOr<uint64_t> NumpyReducedAxes(const OptionalAxes& axes, int rank) {
  if (axes.has_value() && axes->empty()) return 0;
  const bool of_scalar =
      rank == 0 && axes.has_value() && axes->size() == 1 && ((*axes)[0] == 0 || (*axes)[0] == -1);
  if (of_scalar) return 0;
  return ReducedAxes(axes, /*exclude=*/false, rank);
}

PartialShape NumpyReducedShape(const PartialShape& shape, uint64_t reduced, bool keepdims) {
  const uint64_t all = (uint64_t{1} << shape.rank()) - 1;
  const bool is_scalar = shape.rank() == 0 || (reduced == all && !keepdims);
  return is_scalar ? PartialShape(Shape()) : ReducedShape(shape, reduced, keepdims);
}

}  // namespace cooper
