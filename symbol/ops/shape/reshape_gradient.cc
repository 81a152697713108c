#include "symbol/ops/shape/reshape_gradient.h"

#include "ndarray/base/status_macros.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

absl::StatusOr<std::vector<NodeEntry>> ReshapeGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_reshape", {head});
}

namespace {

COOPER_REGISTER_OP(_backward_reshape)
    .Describe("ograd under the shape of the forward node's first input.")
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType)
    .View();

}  // namespace
}  // namespace cooper
