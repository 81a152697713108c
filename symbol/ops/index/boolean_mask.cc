// Selects the rows of an array that a mask marks. MXNet: src/operator/contrib/boolean_mask.cc.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/boolean_mask_param.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BooleanMaskArrays::Input;
using enum BooleanMaskArrays::Output;

// Shape rule: data (n, ...), index (n,). The output has memory for all rows.
absl::Status BooleanMaskShape(ShapeContext& c) {
  if (const int axis = c.param<BooleanMaskParam>().axis; axis != 0) {
    return absl::InvalidArgumentError(absl::StrCat("axis is ", axis, ", expected 0"));
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(kRows, c.input(kData), "the most rows there can be"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kRows), "the output's"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kIndex, {kUnknownDim}, "(rows of data,)"));
  COOPER_RETURN_IF_ERROR(SetShapesOutput(c));
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' () has no rows");
  return c.SetInput(kIndex, {data[0]}, "(rows of data,)");
}

// Type rule: a mask may have any dtype.
absl::Status BooleanMaskType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kShapes, DType::kInt64));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kRows, c.input(kData)));
  return c.SetInput(kData, c.output(kRows));
}

absl::StatusOr<std::vector<NodeEntry>> BooleanMaskGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(kRows));
  return c.Backward("_backward_contrib_boolean_mask", {head, c.input(kIndex)});
}

COOPER_REGISTER_OP(_contrib_boolean_mask)
    .Describe(
        "The rows of data where index is not 0, in their order. The inferred shape says the most "
        "rows there can be; run, the output has as many as there are.")
    .Alias("_npi_boolean_mask")
    .Param<BooleanMaskParam>()
    .Inputs({"data", "index"})
    .Outputs({"output", "shapes"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(BooleanMaskShape)
    .Type(BooleanMaskType)
    .Gradient(BooleanMaskGradient)
    .CountsRows();

COOPER_REGISTER_OP(_backward_contrib_boolean_mask)
    .Describe("The rows of ograd where index is not 0, in their order, and zeros elsewhere.")
    .Param<BooleanMaskParam>()
    .Inputs({"ograd", "index"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
