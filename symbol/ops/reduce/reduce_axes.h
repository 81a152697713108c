#ifndef COOPER_SYMBOL_OPS_REDUCE_REDUCE_AXES_H_
#define COOPER_SYMBOL_OPS_REDUCE_REDUCE_AXES_H_

// The axes that a reduction's parameters select, and the reduced shape: shared by the shape rules,
// the batch layouts and the kernels, so that all agree.

#include <cstdint>

#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {

// Returns a mask in which bit i is set if axis i of an array of `rank` axes is reduced. With
// `exclude` these are the axes that are not listed; absent or empty axes mean all axes, whatever
// exclude is. Fails with kInvalidArgument for axes out of range or given twice, and for more than
// 63 axes. Allocates nothing unless it fails.
absl::StatusOr<uint64_t> ReducedAxes(const OptionalAxes& axes, bool exclude, int rank);

// Returns `shape`, whose rank must be known, without the reduced axes, or with extents of 1 there
// (keepdims). Never a scalar: if no axis remains the shape is (1,), since MXNet's arrays have at
// least one axis. Bits of `reduced` are those of ReducedAxes.
PartialShape ReducedShape(const PartialShape& shape, uint64_t reduced, bool keepdims);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_REDUCE_REDUCE_AXES_H_
