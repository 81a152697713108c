// output = scale * data^3: the operator that docs/operators.md adds.

#include "docs/scaled_cube/scaled_cube_param.h"
#include "ndarray/status_macros.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/shape_context.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

// 3 * scale * data^2 * head: data is kept alive for it, the output is not.
absl::StatusOr<std::vector<NodeEntry>> ScaledCubeGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_scaled_cube", {head, c.input(0)});
}

COOPER_REGISTER_OP(scaled_cube)
    .Describe("scale * data^3, element by element.")
    .Param<ScaledCubeParam>()
    .Inputs({"data"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(ScaledCubeGradient)
    .InPlace({{0, 0}});

COOPER_REGISTER_OP(_backward_scaled_cube)
    .Describe("Gradient of scaled_cube.")
    .Param<ScaledCubeParam>()
    .Inputs({"ograd", "data"})
    .Shape(SameShape)
    .Type(SameType)
    .InPlace({{0, 0}, {1, 0}});

}  // namespace
}  // namespace cooper
