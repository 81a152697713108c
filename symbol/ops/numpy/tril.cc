// The lower triangle of matrices. MXNet: src/operator/numpy/np_tril_op.cc.

#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/tril_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status TrilShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  if (data.rank() == 1) return c.SetOutput(0, {data[0], data[0]}, "data in each row");
  return SameShape(c);
}

COOPER_REGISTER_OP(_npi_tril)
    .Describe("Matrices with zeros above diagonal k; a vector becomes each row of a matrix first.")
    .Param<TrilParam>()
    .Inputs({"data"})
    .Shape(TrilShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_npi_tril", {head});
    });

COOPER_REGISTER_OP(_backward_npi_tril)
    .Describe("The triangle of ograd, summed over the rows for a vector.")
    .Param<TrilParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
