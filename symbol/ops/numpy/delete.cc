// Leaves out slices of an array. MXNet: src/operator/numpy/np_delete_op.cc.

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/delete_param.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum DeleteArrays::Input;
using enum DeleteArrays::Output;

// Returns `with` if positions are given, `without` if not.
OpSchema::NamesFn IfPositions(OpSchema::Names with, OpSchema::Names without) {
  return [=](const OpCall& call) {
    return call.param<DeleteParam>().takes_positions() ? with : without;
  };
}

// Shape rule: the output has room for all slices if positions are given.
absl::Status DeleteShape(ShapeContext& c) {
  const PartialShape& arr = c.input(kArr);
  if (!arr.rank_known()) return absl::OkStatus();
  const auto& param = c.param<DeleteParam>();
  PartialShape out = {arr.num_elements()};
  int axis = 0;
  if (param.axis.has_value()) {
    out = arr;
    if (arr.rank() > 0) {
      COOPER_ASSIGN_OR_RETURN(axis, NormalizeAxis(*param.axis, arr.rank()));
    }
  }
  if (param.takes_positions()) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, out, "the most there can be"));
    return SetShapesOutput(c);
  }
  if (out.rank() > 0 && out.dim_known(axis)) {
    COOPER_ASSIGN_OR_RETURN(const SliceRange range, param.range(out[axis]));
    out[axis] -= range.extent;
  }
  return c.SetOutput(kOutput, out, "what is left");
}

absl::Status DeleteType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kArr)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kArr, c.output(kOutput)));
  return c.num_outputs() > 1 ? c.SetOutput(kShapes, DType::kInt64) : absl::OkStatus();
}

absl::StatusOr<std::vector<NodeEntry>> DeleteGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(kOutput));
  std::vector<NodeEntry> inputs = {head};
  if (c.num_inputs() > 1) inputs.push_back(c.input(kObj));
  return c.Backward("_backward_npi_delete", std::move(inputs));
}

COOPER_REGISTER_OP(_npi_delete)
    .Describe(
        "arr without the slices along an axis that int_ind, start:stop:step or obj says. With obj "
        "the inferred shape is that of arr; run, the output has as many slices as are left.")
    .Param<DeleteParam>()
    .Inputs(IfPositions({"arr", "obj"}, {"arr"}))
    .Outputs(IfPositions({"output", "shapes"}, {"output"}))
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(DeleteShape)
    .Type(DeleteType)
    .Gradient(DeleteGradient)
    .CountsRows();

COOPER_OP_EXAMPLE(_npi_delete, {{"int_ind", "1"}, {"axis", "0"}}, {{3, 2}});

COOPER_REGISTER_OP(_backward_npi_delete)
    .Describe("ograd in the slices that were kept, and zeros elsewhere.")
    .Param<DeleteParam>()
    .Inputs(IfPositions({"ograd", "obj"}, {"ograd"}))
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
