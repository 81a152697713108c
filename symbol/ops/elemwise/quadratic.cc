// A polynomial of degree 2: the operator that docs/operators.md shows.
// MXNet: src/operator/contrib/quadratic_op.cc.

#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/quadratic_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Gradient rule: (2 a data + b) * head, which needs data, but not the output.
absl::StatusOr<std::vector<NodeEntry>> QuadraticGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_contrib_quadratic", {head, c.input(QuadraticArrays::kData)});
}

COOPER_REGISTER_OP(_contrib_quadratic)
    .Describe("a * data^2 + b * data + c, element by element.")
    .Alias("_npx_quadratic")
    .Param<QuadraticParam>()
    .Inputs({"data"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(QuadraticGradient)
    .InPlace({{QuadraticArrays::kData, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_backward_contrib_quadratic)
    .Describe("Gradient of _contrib_quadratic.")
    .Param<QuadraticParam>()
    .Inputs({"ograd", "data"})
    .Shape(SameShape)
    .Type(SameType)
    .InPlace({{QuadraticGradientArrays::kOgrad, 0}, {QuadraticGradientArrays::kData, 0}})
    .Elementwise();

}  // namespace
}  // namespace cooper
