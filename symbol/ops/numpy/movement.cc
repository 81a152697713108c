// NumPy operators that move elements and that older operators do not have. MXNet:
// src/operator/numpy/np_matrix_op.cc.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/different_axes.h"
#include "symbol/ops/numpy/movement_param.h"
#include "symbol/ops/numpy/same_as.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

absl::Status MoveaxisShape(ShapeContext& c) {
  const PartialShape& a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  const auto& param = c.param<MoveaxisParam>();
  COOPER_RETURN_IF_ERROR(CheckDifferent(param.source, a.rank(), "source"));
  COOPER_RETURN_IF_ERROR(CheckDifferent(param.destination, a.rank(), "destination"));
  if (param.source.size() != param.destination.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "source has ", param.source.size(), " axes and destination ", param.destination.size()));
  }
  PartialShape out = PartialShape::OfRank(a.rank());
  for (int i = 0; i < a.rank(); ++i) out[i] = a[param.source_axis(i, a.rank())];
  return c.SetOutput(0, out, "a with its axes moved");
}

COOPER_REGISTER_OP(_np_moveaxis)
    .Describe("a with axes at other places.")
    .Param<MoveaxisParam>()
    .Inputs({"a"})
    .Shape(MoveaxisShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      const auto& param = c.param<MoveaxisParam>();
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(const NodeEntry gradient,
                              c.Call("_np_moveaxis", {head},
                                     {{"source", PrintParamText(param.destination)},
                                      {"destination", PrintParamText(param.source)}}));
      return std::vector<NodeEntry>{gradient};
    })
    .Transposes([](const OpCall& call, int rank) {
      std::vector<int> axes(rank);
      for (int i = 0; i < rank; ++i) axes[i] = call.param<MoveaxisParam>().source_axis(i, rank);
      return axes;
    })
    .Kind(OpKind::kShaping);

absl::Status RollShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SameShape(c));
  const auto& param = c.param<RollParam>();
  const size_t shifts = param.shift.has_value() ? param.shift->size() : 0;
  const size_t axes = param.axis.has_value() ? param.axis->size() : 1;
  if (shifts == 0 || (shifts > 1 && shifts != axes)) {
    return absl::InvalidArgumentError(absl::StrCat("shift has ", shifts, " numbers, expected 1 or ",
                                                   axes, ", one for each axis"));
  }
  for (const int64_t shift : *param.shift) {
    if (shift != std::numeric_limits<int64_t>::min()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("shift is ", shift, ", whose negative, that of the gradient, is no int64"));
  }
  if (!c.input(0).rank_known() || !param.axis.has_value()) return absl::OkStatus();
  return CheckDifferent(*param.axis, c.input(0).rank(), "axis");
}

COOPER_REGISTER_OP(_np_roll)
    .Describe("data with elements moved along axes, around their ends.")
    .Param<RollParam>()
    .Inputs({"data"})
    .Shape(RollShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      const auto& param = c.param<RollParam>();
      std::vector<int64_t> back = *param.shift;
      for (int64_t& shift : back) shift = -shift;
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(
          const NodeEntry gradient,
          c.Call("_np_roll", {head},
                 {{"shift", PrintParamText(back)}, {"axis", PrintParamText(param.axis)}}));
      return std::vector<NodeEntry>{gradient};
    });

absl::Status Rot90Shape(ShapeContext& c) {
  const auto& param = c.param<Rot90Param>();
  if (!c.input(0).rank_known()) return absl::OkStatus();
  PartialShape out = c.input(0);
  const std::vector<int64_t> axes = param.axes.value_or(std::vector<int64_t>{0, 1});
  COOPER_RETURN_IF_ERROR(CheckDifferent(axes, out.rank(), "axes"));
  if (axes.size() != 2) return absl::InvalidArgumentError("axes are not two");
  if (param.turns() % 2 != 0) {
    std::swap(out[param.plane(0, out.rank())], out[param.plane(1, out.rank())]);
  }
  return c.SetOutput(0, out, "data's, turned");
}

COOPER_REGISTER_OP(_npi_rot90)
    .Describe("data turned by multiples of 90 degrees in the plane of two axes.")
    .Param<Rot90Param>()
    .Inputs({"data"})
    .Shape(Rot90Shape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      const auto& param = c.param<Rot90Param>();
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(
          const NodeEntry gradient,
          c.Call("_npi_rot90", {head},
                 {{"k", PrintParamText(4 - param.turns())}, {"axes", PrintParamText(param.axes)}}));
      return std::vector<NodeEntry>{gradient};
    })
    .Kind(OpKind::kShaping);

absl::Status MatrixRank(ShapeContext& c, bool vectors) {
  const PartialShape& data = c.input(0);
  if (!data.rank_known() || data.rank() == 2 || (vectors ? data.rank() == 1 : data.rank() > 2)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("input 'data' ", data.ToString(), ", expected ",
                                                 vectors ? "a vector or a matrix" : "matrices"));
}

COOPER_REGISTER_OP(_np_diag)
    .Describe("A diagonal of a matrix, or a matrix with data as its diagonal.")
    .Param<NumpyDiagParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(MatrixRank(c, /*vectors=*/true));
      return ShapeOf("diag")(c);
    })
    .Type(SameType)
    .Gradient(GradientOf("diag"));

COOPER_REGISTER_OP(_np_diagonal)
    .Describe("Diagonals of matrices.")
    .Param<NumpyDiagonalParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(MatrixRank(c, /*vectors=*/false));
      return ShapeOf("diag")(c);
    })
    .Type(SameType)
    .Gradient(GradientOf("diag"));

// An operator that joins arrays along `axis`, after arrays of fewer axes have got extents of 1:
// behind their axes, or in front of them for rows.
struct StackOp {
  const char* name;
  const char* doc;
  const char* input;  // the inputs' names begin with it
  const char* output;
  int axis;
  int least_rank;  // of the arrays that are joined
};

constexpr StackOp kStacks[] = {
    {"hstack", "The inputs side by side, vectors one after the other.", "data", "out", 1, 1},
    {"vstack", "The inputs below each other, vectors as rows.", "arg", "output", 0, 2},
    {"dstack", "The inputs behind each other along the third axis.", "data", "out", 2, 3},
    {"column_stack", "The inputs side by side, vectors as columns.", "arg", "output", 1, 2},
};

// Returns the shape of an input as it is joined.
PartialShape Padded(const StackOp& op, const PartialShape& shape) {
  std::vector<int64_t> extents(shape.dims().begin(), shape.dims().end());
  if (extents.empty()) extents = {1};
  // Vectors are rows, except as columns of column_stack.
  const bool is_row = extents.size() == 1 && op.axis != 1;
  if (is_row && op.least_rank > 1) extents.insert(extents.begin(), 1);
  while (static_cast<int>(extents.size()) < op.least_rank) extents.push_back(1);
  return PartialShape(extents);
}

absl::Status StackShape(const StackOp& op, ShapeContext& c) {
  PartialShape out;
  int64_t joined = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
    PartialShape shape = Padded(op, c.input(i));
    const int axis = shape.rank() == 1 ? 0 : op.axis;
    joined = ExtentSum(joined, shape[axis]);
    shape[axis] = kUnknownDim;
    if (i == 0) out = shape;
    bool fits = out.rank() == shape.rank();
    for (int k = 0; fits && k < out.rank(); ++k) {
      if (out[k] == kUnknownDim) out[k] = shape[k];
      fits = shape[k] == kUnknownDim || shape[k] == out[k];
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("inputs ", c.input(0).ToString(), " and ", c.input(i).ToString(),
                       " cannot be joined: only the extents along axis ", axis, " may differ"));
    }
  }
  out[out.rank() == 1 ? 0 : op.axis] = joined;
  return c.SetOutput(0, out, "the inputs' extents");
}

void RegisterStacks() {
  for (const StackOp& op : kStacks) {
    const std::string backward = absl::StrCat("_backward_np_", op.name);
    OpRegistrar(OpBuilder(absl::StrCat("_npi_", op.name))
                    .Describe(op.doc)
                    .Param<NumpyStackParam>()
                    .VariadicInputs("num_args")
                    .Inputs([op](const OpCall& call) {
                      OpSchema::Names names;
                      const int count = call.param<NumpyStackParam>().num_args;
                      for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(op.input, i));
                      return names;
                    })
                    .Outputs({op.output})
                    .Shape([op](ShapeContext& c) { return StackShape(op, c); })
                    .Type(SameType)
                    .Gradient([backward](GradientContext& c) -> Entries {
                      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
                      return c.Backward(backward, {head});
                    })
                    .Kind(OpKind::kShaping));
    OpRegistrar(OpBuilder(backward)
                    .Describe("The parts of ograd that come from each input.")
                    .Param<NumpyStackParam>()
                    .Inputs({"ograd"})
                    .Outputs([](const OpCall& call) {
                      OpSchema::Names names;
                      const int count = call.param<NumpyStackParam>().num_args;
                      for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("output", i));
                      return names;
                    })
                    .Shape(GradientShape)
                    .Type(GradientType));
  }
}

const bool kRegistered = (RegisterStacks(), true);

COOPER_OP_EXAMPLE(_np_moveaxis, {{"source", "(0,)"}, {"destination", "(-1,)"}}, {{2, 3, 4}});
COOPER_OP_EXAMPLE(_np_roll, {{"shift", "(1,)"}, {"axis", "(0,)"}}, {{2, 3}});
COOPER_OP_EXAMPLE(_npi_rot90, {}, {{2, 3}});
COOPER_OP_EXAMPLE(_np_diag, {}, {{3, 4}});
COOPER_OP_EXAMPLE(_np_diagonal, {}, {{3, 4}});

}  // namespace
}  // namespace cooper
