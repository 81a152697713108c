// The positions of elements that are not 0. MXNet: src/operator/numpy/np_nonzero_op.cc.

#include <algorithm>

#include "absl/status/status.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/nonzero_arrays.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum NonzeroArrays::Input;
using enum NonzeroArrays::Output;

absl::Status NonzeroShape(ShapeContext& c) {
  const PartialShape& x = c.input(kX);
  if (!x.rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetOutput(kPositions, {x.num_elements(), std::max(x.rank(), 1)},
                                     "(the most there can be, axes of x)"));
  return SetShapesOutput(c);
}

absl::Status NonzeroType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kPositions, DType::kInt64));
  return c.SetOutput(kShapes, DType::kInt64);
}

COOPER_REGISTER_OP(_npx_nonzero)
    .Describe(
        "The positions of the elements of x that are not 0, one a row. The inferred shape says the "
        "most there can be; run, the output has as many as there are.")
    .Alias("_npi_nonzero")
    .Inputs({"x"})
    .Outputs({"output", "shapes"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(NonzeroShape)
    .Type(NonzeroType)
    .CountsRows();

}  // namespace
}  // namespace cooper
