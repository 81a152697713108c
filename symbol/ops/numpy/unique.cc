// The different elements of an array. MXNet: src/operator/numpy/np_unique_op.cc.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/unique_param.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum UniqueArrays::Input;
using enum UniqueArrays::Output;

absl::Status UniqueShape(ShapeContext& c) {
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  PartialShape values = {data.num_elements()};
  int axis = 0;
  if (const auto& given = c.param<UniqueParam>().axis; given.has_value()) {
    COOPER_ASSIGN_OR_RETURN(axis, NormalizeAxis(*given, std::max(data.rank(), 1)));
    if (data.rank() > 0) values = data;
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(kValues, values, "the most there can be"));
  for (int k = 1; k < c.param<UniqueParam>().num_visible(); ++k) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(k, {values[axis]}, "one number for each"));
  }
  return SetShapesOutput(c);
}

absl::Status UniqueType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kValues, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kValues)));
  for (int k = 1; k < c.num_outputs(); ++k) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(k, DType::kInt64));
  }
  return absl::OkStatus();
}

OpSchema::Names UniqueOutputs(const OpCall& call) {
  const int visible = call.param<UniqueParam>().num_visible();
  if (visible == 1) return {"output", "shapes"};
  OpSchema::Names names;
  for (int k = 0; k < visible; ++k) names.push_back(absl::StrCat("output", k));
  names.push_back("shapes");
  return names;
}

COOPER_REGISTER_OP(_npi_unique)
    .Describe(
        "The different elements of data, or slices along an axis, in sorted order. The inferred "
        "shape says the most there can be; run, the output has as many as there are.")
    .Param<UniqueParam>()
    .Inputs({"data"})
    .Outputs(UniqueOutputs)
    .VisibleOutputs([](const OpCall& call) { return call.param<UniqueParam>().num_visible(); })
    .Shape(UniqueShape)
    .Type(UniqueType)
    .CountsRows();

}  // namespace
}  // namespace cooper
