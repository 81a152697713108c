// Compares two arrays. MXNet: src/operator/contrib/allclose_op.cc.

#include "absl/status/status.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/allclose_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum AllcloseArrays::Input;

absl::Status AllcloseShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kA, c.input(kB), "the shape of b"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kB, c.input(kA), "the shape of a"));
  return c.SetOutput(0, PartialShape(Shape()), "a scalar");
}

absl::Status AllcloseType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kA, c.input(kB)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kB, c.input(kA)));
  return c.SetOutput(0, DType::kUint8);
}

COOPER_REGISTER_OP(_contrib_allclose)
    .Describe("Whether all elements of a and b differ by at most atol + rtol |b|.")
    .Param<AllcloseParam>()
    .Inputs({"a", "b"})
    .Shape(AllcloseShape)
    .Type(AllcloseType);

}  // namespace
}  // namespace cooper
