// NumPy operators that move or repeat elements without computing anything. MXNet:
// src/operator/numpy/np_matrix_op.cc, np_broadcast_reduce_op_value.cc.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/concatenate_param.h"
#include "symbol/ops/numpy/different_axes.h"
#include "symbol/ops/numpy/same_as.h"
#include "symbol/ops/reduce/broadcast_param.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/tile_param.h"
#include "symbol/ops/shape/transpose_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

COOPER_REGISTER_OP(_np_transpose)
    .Describe("a with its axes in another order, by default the opposite one.")
    .Param<TransposeParam>()
    .Inputs({"a"})
    .Shape(ShapeOf("transpose"))
    .Type(SameType)
    .Gradient(GradientOf("transpose"))
    .Transposes([](const OpCall& call, int rank) {
      std::vector<int> axes(rank);
      for (int i = 0; i < rank; ++i) axes[i] = call.param<TransposeParam>().source_axis(i, rank);
      return axes;
    })
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_npi_stack)
    .Describe("The inputs along a new axis.")
    .Param<StackParam>()
    .VariadicInputs("num_args")
    .Shape(ShapeOf("stack"))
    .Type(SameType)
    .Gradient(GradientOf("stack"))
    .Joins([](const OpCall& call) { return call.param<StackParam>().axis; })
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_npi_concatenate)
    .Describe("The inputs one after the other along an axis.")
    .Param<NumpyConcatenateParam>()
    .VariadicInputs("num_args")
    .Inputs([](const OpCall& call) {
      OpSchema::Names names;
      const int count = call.param<NumpyConcatenateParam>().num_args;
      for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("data", i));
      return names;
    })
    .Outputs({"out"})
    .Shape(ShapeOf("Concat"))
    .Type(SameType)
    .Gradient(GradientOf("Concat"))
    .Joins([](const OpCall& call) { return call.param<NumpyConcatenateParam>().dim; })
    .Kind(OpKind::kShaping);

// Shape rule: that of reverse, but an axis may not be given twice, as in NumPy.
absl::Status FlipShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (data.rank_known()) {
    COOPER_RETURN_IF_ERROR(CheckDifferent(c.param<ReverseParam>().axis, data.rank(), "axis"));
  }
  return ShapeOf("reverse")(c);
}

COOPER_REGISTER_OP(_npi_flip)
    .Describe("data with the order of elements reversed along axes.")
    .Param<ReverseParam>()
    .Inputs({"data"})
    .Shape(FlipShape)
    .Type(SameType)
    .Gradient(GradientOf("reverse"));

// Shape rule: `shape` has at least data's rank, its axes are aligned with data's at the last one,
// and -2 keeps data's extent.
absl::Status BroadcastToShape(ShapeContext& c) {
  const PartialShape& array = c.input(0);
  if (!array.rank_known()) return absl::OkStatus();
  PartialShape shape(c.param<BroadcastToParam>().shape);
  const int added = shape.rank() - array.rank();
  bool fits = added >= 0;
  for (int axis = 0; fits && axis < shape.rank(); ++axis) {
    const int64_t extent = axis < added ? 1 : array[axis - added];
    if (shape[axis] == -2 && axis >= added) shape[axis] = extent;
    fits = shape[axis] == extent || (shape[axis] >= 0 && (extent == 1 || extent == kUnknownDim));
  }
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot broadcast input 'array' ", array.ToString(), " to ",
                     PrintParamText(c.param<BroadcastToParam>().shape)));
  }
  return c.SetOutput(0, shape, "the attribute shape");
}

COOPER_REGISTER_OP(_npi_broadcast_to)
    .Describe("array repeated along axes of extent 1 and along new ones, to a shape.")
    .Param<BroadcastToParam>()
    .Inputs({"array"})
    .Shape(BroadcastToShape)
    .Type(SameType)
    .Gradient(GradientOf("broadcast_to"));

COOPER_OP_EXAMPLE(_npi_broadcast_to, {{"shape", "(2, 3)"}}, {{3}});

}  // namespace
}  // namespace cooper
