#ifndef COOPER_SYMBOL_OPS_RULES_BROADCAST_SHAPE_H_
#define COOPER_SYMBOL_OPS_RULES_BROADCAST_SHAPE_H_

// The shape rule of operators on arrays that are broadcast together as in NumPy: arithmetic
// (symbol/ops/reduce/broadcast_binary.cc) and the NumPy operators (symbol/ops/numpy).

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns the shape to which arrays of shapes `a` and `b` are broadcast: the shapes are aligned at
// their last axes, and extents are equal or one of them is 1. An extent that is unknown on one side
// is taken from the other side unless that is 1. Both ranks must be known. Fails with
// kInvalidArgument, naming the inputs, if extents contradict each other.
inline absl::StatusOr<PartialShape> BroadcastTogether(const PartialShape& a,
                                                      absl::string_view a_name,
                                                      const PartialShape& b,
                                                      absl::string_view b_name) {
  const int rank = std::max(a.rank(), b.rank());
  PartialShape shape = PartialShape::OfRank(rank);
  for (int axis = 0; axis < rank; ++axis) {
    const int of_a = axis - rank + a.rank();
    const int of_b = axis - rank + b.rank();
    const int64_t x = of_a < 0 ? 1 : a[of_a];
    const int64_t y = of_b < 0 ? 1 : b[of_b];
    if (x == y || y == 1) {
      shape[axis] = x;
    } else if (x == 1 || x == kUnknownDim) {
      shape[axis] = y;  // the unknown extent is y or 1
    } else if (y == kUnknownDim) {
      shape[axis] = x;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "inputs '", a_name, "' ", a.ToString(), " and '", b_name, "' ", b.ToString(),
          " cannot be broadcast together: extents ", x, " and ", y, " meet on axis ", axis));
    }
  }
  return shape;
}

// Shape rule: the output has the shape to which inputs 0 and 1, lhs and rhs, are broadcast. It does
// not infer inputs from the output, since an extent of an input may be the output's or 1. Waits
// until both ranks are known. Errors: those of BroadcastTogether.
inline absl::Status BroadcastShape(ShapeContext& c) {
  if (!c.input(0).rank_known() || !c.input(1).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const PartialShape shape,
                          BroadcastTogether(c.input(0), "lhs", c.input(1), "rhs"));
  return c.SetOutput(0, shape, "lhs and rhs broadcast together");
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RULES_BROADCAST_SHAPE_H_
