// Differences of neighbours, into which the executor expands _npi_diff.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/difference_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

COOPER_REGISTER_OP(_neighbour_difference)
    .Describe("Differences of neighbours along an axis.")
    .Param<NeighbourDifferenceParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).rank_known()) return absl::OkStatus();
      PartialShape out = c.input(0);
      COOPER_ASSIGN_OR_RETURN(const int axis,
                              NormalizeAxis(c.param<NeighbourDifferenceParam>().axis, out.rank()));
      if (out.dim_known(axis) && --out[axis] <= 0) {
        return absl::InvalidArgumentError(absl::StrCat("input 'data' ", c.input(0).ToString(),
                                                       " has no neighbours along axis ", axis,
                                                       ", expected at least 2 elements"));
      }
      return c.SetOutput(0, out, "data's without one along axis");
    })
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_neighbour_difference", {head});
    });

COOPER_REGISTER_OP(_backward_neighbour_difference)
    .Describe("Gradient of _neighbour_difference.")
    .Param<NeighbourDifferenceParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_neighbour_difference, {}, {{2, 4}});

}  // namespace
}  // namespace cooper
