// NumPy operators without kernels: executors replace them by other operators, by which they also
// get their gradients (executor/passes/graph/expand_numpy.h). MXNet: src/operator/numpy.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/composed_param.h"
#include "symbol/ops/numpy/different_axes.h"
#include "symbol/ops/numpy/movement_param.h"
#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Dims = std::vector<int64_t>;

Dims DimsOf(const PartialShape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

absl::Status Refuse(const ShapeContext& c, int i, const char* expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("input ", i, " has shape ", c.input(i).ToString(), ", expected ", expected));
}

OpSchema::Names Numbered(const char* name, int count) {
  OpSchema::Names names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(name, i));
  return names;
}

// Sets the outputs' shapes: a vector becomes a row, and a matrix gets a last axis of extent 1.
absl::Status AtleastShape(ShapeContext& c, int least) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) continue;
    Dims dims = DimsOf(c.input(i));
    if (dims.size() == 1 && least > 1) dims.insert(dims.begin(), 1);
    while (static_cast<int>(dims.size()) < least) dims.push_back(1);
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, PartialShape(dims), "the input's with axes of 1"));
  }
  return absl::OkStatus();
}

// Sets the shapes of the parts of data along `axis`: nearly equal ones, or those that begin at
// indices.
absl::Status PartsShape(ShapeContext& c, int axis) {
  const auto& param = c.param<SplitParam>();
  const PartialShape& data = c.input(0);
  const int64_t extent = data[axis], count = param.num_outputs();
  if (extent == kUnknownDim) return absl::OkStatus();
  for (int i = 0; i < count; ++i) {
    PartialShape part = data;
    if (param.sections > 0) {
      part[axis] = extent / count + (i < extent % count ? 1 : 0);
    } else {
      const int64_t begin = param.indices[i];
      const int64_t end = i + 1 < count ? param.indices[i + 1] : extent;
      if (begin < 0 || end < begin || end > extent) {
        return absl::InvalidArgumentError(absl::StrCat("indices ", PrintParamText(param.indices),
                                                       " are not ranges of axis ", axis,
                                                       " of input 'data' ", data.ToString()));
      }
      part[axis] = end - begin;
    }
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, part, "a part of data"));
  }
  return absl::OkStatus();
}

void RegisterAtleast() {
  for (const int least : {1, 2, 3}) {
    OpRegistrar(OpBuilder(absl::StrCat("_np_atleast_", least, "d"))
                    .Describe(absl::StrCat("The inputs with at least ", least, " axes."))
                    .Param<AtleastParam>()
                    .VariadicInputs("num_args")
                    .Inputs([](const OpCall& call) {
                      return Numbered("ary", call.param<AtleastParam>().num_args);
                    })
                    .Outputs([](const OpCall& call) {
                      const int count = call.param<AtleastParam>().num_args;
                      return count == 1 ? OpSchema::Names{"output"} : Numbered("output", count);
                    })
                    .Shape([least](ShapeContext& c) { return AtleastShape(c, least); })
                    .Type(SameType)
                    .Kind(OpKind::kShaping));
  }
}

void RegisterSplits() {
  for (const bool columns : {true, false}) {
    OpRegistrar(OpBuilder(columns ? "_npi_hsplit" : "_npi_dsplit")
                    .Describe(columns ? "Parts of data along axis 1, or of a vector."
                                      : "Parts of data along axis 2.")
                    .Param<SplitParam>()
                    .Inputs({"data"})
                    .Outputs([](const OpCall& call) {
                      const int count = call.param<SplitParam>().num_outputs();
                      return count == 1 ? OpSchema::Names{"output"} : Numbered("output", count);
                    })
                    .Shape([columns](ShapeContext& c) -> absl::Status {
                      if (!c.input(0).rank_known()) return absl::OkStatus();
                      const int rank = c.input(0).rank();
                      if (c.param<SplitParam>().squeeze_axis) {
                        return absl::InvalidArgumentError("squeeze_axis has to be False");
                      }
                      if (rank < (columns ? 1 : 3)) {
                        return Refuse(c, 0, columns ? "at least one axis" : "at least three axes");
                      }
                      return PartsShape(c, columns ? std::min(1, rank - 1) : 2);
                    })
                    .Type(SameType)
                    .Kind(OpKind::kShaping));
  }
}

const bool kRegistered = (RegisterAtleast(), RegisterSplits(), true);

COOPER_REGISTER_OP(_np_diagflat)
    .Describe("A matrix with the elements of data as a diagonal.")
    .Param<NumpyDiagParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).IsFull()) return absl::OkStatus();
      const int64_t k = c.param<NumpyDiagParam>().k;
      const int64_t side = ExtentSum(c.input(0).num_elements(), k < 0 ? -k : k);
      return c.SetOutput(0, PartialShape{side, side}, "data's elements and the offset");
    })
    .Type(SameType);

COOPER_REGISTER_OP(_np_trace)
    .Describe("Sums of diagonals of matrices.")
    .Param<NumpyDiagonalParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).rank_known()) return absl::OkStatus();
      if (c.input(0).rank() < 2) return Refuse(c, 0, "matrices");
      const auto& param = c.param<NumpyDiagonalParam>();
      const Dims axes = {param.axis1, param.axis2};
      COOPER_RETURN_IF_ERROR(CheckDifferent(axes, c.input(0).rank(), "axis1 and axis2"));
      COOPER_ASSIGN_OR_RETURN(const uint64_t reduced,
                              NumpyReducedAxes(OptionalAxes(axes), c.input(0).rank()));
      return c.SetOutput(0, NumpyReducedShape(c.input(0), reduced, false), "data's other axes");
    })
    .Type(SameType);

COOPER_REGISTER_OP(_npi_diff)
    .Describe("Differences of neighbours along an axis, n times.")
    .Param<DiffParam>()
    .Inputs({"a"})
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).rank_known()) return absl::OkStatus();
      PartialShape out = c.input(0);
      const auto& param = c.param<DiffParam>();
      COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, out.rank()));
      if (out.dim_known(axis)) {
        out[axis] -= param.n;
        if (out[axis] <= 0) return Refuse(c, 0, "more than n elements along axis");
      }
      return c.SetOutput(0, out, "a's without n along axis");
    })
    .Type(SameType);

absl::Status AverageShape(ShapeContext& c) {
  const PartialShape& a = c.input(0);
  const auto& param = c.param<AverageParam>();
  if (!a.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, NumpyReducedAxes(param.axis, a.rank()));
  const PartialShape out = NumpyReducedShape(a, reduced, false);
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "a's other axes"));
  if (!param.weighted) return c.SetOutput(1, PartialShape(Shape()), "one number");
  const PartialShape& weights = c.input(1);
  if (!weights.rank_known()) return absl::OkStatus();
  if (weights.rank() == a.rank()) {
    COOPER_RETURN_IF_ERROR(c.SetInput(1, a, "a's"));
    return c.SetOutput(1, out, "a's other axes");
  }
  if (!param.axis.has_value() || param.axis->size() != 1) {
    return Refuse(c, 1, "a's shape, or a vector and one axis");
  }
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis((*param.axis)[0], a.rank()));
  COOPER_RETURN_IF_ERROR(c.SetInput(1, PartialShape{a[axis]}, "the extent of axis"));
  return c.SetOutput(1, PartialShape(Shape()), "one number");
}

COOPER_REGISTER_OP(_npi_average)
    .Describe("The mean of a over axes, weighted or not, and the sum of the weights.")
    .Param<AverageParam>()
    .Inputs([](const OpCall& call) {
      return call.param<AverageParam>().weighted ? OpSchema::Names{"a", "weights"}
                                                 : OpSchema::Names{"a"};
    })
    .Outputs({"output0", "output1"})
    .VisibleOutputs([](const OpCall& call) { return call.param<AverageParam>().returned ? 2 : 1; })
    .Shape(AverageShape)
    .Type(SameType);

COOPER_REGISTER_OP(_npi_polyval)
    .Describe("The polynomial of the coefficients p, that of the highest power first, at each x.")
    .Inputs({"p", "x"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(1), "a vector"));
      COOPER_RETURN_IF_ERROR(c.SetInput(1, c.output(0), "the output's"));
      return c.SetOutput(0, c.input(1), "x's");
    })
    .Type(SameType);

// Fails unless input 0, whose rank is known, has as many rows as columns, as far as both are known.
absl::Status CheckSquare(const ShapeContext& c) {
  const PartialShape& a = c.input(0);
  if (a.rank() < 2) return Refuse(c, 0, "square matrices");
  const int64_t rows = a[a.rank() - 2], columns = a[a.rank() - 1];
  if (rows == columns || rows == kUnknownDim || columns == kUnknownDim) return absl::OkStatus();
  return Refuse(c, 0, "square matrices");
}

// Sets output `i` to the shape of the square matrices of input 0.
absl::Status SquaresShape(ShapeContext& c, int i) {
  const PartialShape& a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSquare(c));
  return c.SetOutput(i, a, "A's");
}

// Sets output 0 to the shape of the vectors of eigenvalues.
absl::Status EigenvaluesShape(ShapeContext& c) {
  const PartialShape& a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSquare(c));
  return c.SetOutput(0, PartialShape(a.dims().first(a.rank() - 1)), "a vector for each matrix");
}

COOPER_REGISTER_OP(_npi_cholesky)
    .Describe("The lower triangle L of A = L * L^T.")
    .Inputs({"A"})
    .Shape([](ShapeContext& c) { return SquaresShape(c, 0); })
    .Type(SameType);

COOPER_REGISTER_OP(_npi_eigh)
    .Describe(
        "Eigenvalues, in ascending order, and eigenvectors, as columns, of symmetric matrices.")
    .Param<EighParam>()
    .Inputs({"A"})
    .Outputs({"output0", "output1"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(EigenvaluesShape(c));
      return SquaresShape(c, 1);
    })
    .Type(SameType);

COOPER_REGISTER_OP(_npi_eigvalsh)
    .Describe("Eigenvalues of symmetric matrices, in ascending order.")
    .Param<EighParam>()
    .Inputs({"A"})
    .Shape(EigenvaluesShape)
    .Type(SameType);

COOPER_REGISTER_OP(_npi_solve)
    .Describe("X of A * X = B.")
    .Inputs({"A", "B"})
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape &a = c.input(0), &b = c.input(1);
      if (!a.IsFull() || !b.IsFull()) return absl::OkStatus();
      COOPER_RETURN_IF_ERROR(CheckSquare(c));
      const bool is_vector = b.rank() + 1 == a.rank();
      if (!is_vector && b.rank() != a.rank()) return Refuse(c, 1, "A's axes, or one less");
      for (int i = 0; i < a.rank() - 1; ++i) {
        if (a[i] != b[i]) return Refuse(c, 1, "A's leading extents and rows");
      }
      return c.SetOutput(0, b, "B's");
    })
    .Type(SameType);

// Fails unless the first `rows` axes of an array of the extents `dims` are as many rows as the
// others are columns. Returns the columns' axes.
absl::StatusOr<Dims> Columns(const ShapeContext& c, const Dims& dims, int rows) {
  int64_t height = 1, width = 1;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    int64_t& side = i < rows ? height : width;
    side = ExtentProduct(side, dims[i]);
  }
  if (rows > static_cast<int>(dims.size()) || height != width) {
    return Refuse(c, 0, "the axes of a square matrix");
  }
  return Dims(dims.begin() + rows, dims.end());
}

COOPER_REGISTER_OP(_npi_tensorinv)
    .Describe("The inverse of an array whose first ind axes are the rows of a matrix.")
    .Param<TensorinvParam>()
    .Inputs({"a"})
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).IsFull()) return absl::OkStatus();
      const int rows = c.param<TensorinvParam>().ind;
      const Dims dims = DimsOf(c.input(0));
      COOPER_ASSIGN_OR_RETURN(Dims out, Columns(c, dims, rows));
      out.insert(out.end(), dims.begin(), dims.begin() + rows);
      return c.SetOutput(0, PartialShape(out), "a's columns, then its rows");
    })
    .Type(SameType);

COOPER_REGISTER_OP(_npi_tensorsolve)
    .Describe("x of a * x = b, where axes of a are the rows and columns of a matrix.")
    .Param<TensorsolveParam>()
    .Inputs({"a", "b"})
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape &a = c.input(0), &b = c.input(1);
      if (!a.IsFull() || !b.IsFull()) return absl::OkStatus();
      const auto& param = c.param<TensorsolveParam>();
      COOPER_RETURN_IF_ERROR(CheckDifferent(param.a_axes, a.rank(), "a_axes"));
      Dims dims;
      for (const int64_t axis : param.order(a.rank())) dims.push_back(a[static_cast<int>(axis)]);
      COOPER_ASSIGN_OR_RETURN(const Dims out, Columns(c, dims, b.rank()));
      for (int i = 0; i < b.rank(); ++i) {
        if (dims[i] != b[i]) return Refuse(c, 1, "the extents of a's rows");
      }
      return c.SetOutput(0, PartialShape(out), "a's columns");
    })
    .Type(SameType);

COOPER_REGISTER_OP(_npi_boolean_mask_assign_scalar)
    .Describe("data with a number where the mask is true.")
    .Param<BooleanMaskAssignParam>()
    .Inputs({"data", "mask"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0), "data's"));
      COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(0), "the output's"));
      const PartialShape &data = c.input(0), &mask = c.input(1);
      if (!data.rank_known() || !mask.rank_known()) return absl::OkStatus();
      const int start = c.param<BooleanMaskAssignParam>().start_axis;
      if (start > data.rank() - mask.rank()) return Refuse(c, 1, "axes of data from start_axis on");
      return c.SetInput(1, PartialShape(data.dims().subspan(start, mask.rank())), "data's extents");
    })
    .Type([](TypeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
      return c.SetInput(0, c.output(0));
    });

COOPER_OP_EXAMPLE(_npi_hsplit, {{"indices", "(0, 2)"}}, {{2, 6}});
COOPER_OP_EXAMPLE(_npi_dsplit, {{"indices", "(0, 2)"}}, {{2, 3, 6}});
COOPER_OP_EXAMPLE(_np_diagflat, {}, {{2, 3}});
COOPER_OP_EXAMPLE(_np_trace, {}, {{3, 4}});
COOPER_OP_EXAMPLE(_npi_diff, {}, {{2, 4}});
COOPER_OP_EXAMPLE(_npi_average, {{"axis", "(1,)"}}, {{2, 3}, {3}});
COOPER_OP_EXAMPLE(_npi_polyval, {}, {{3}, {2, 2}});
COOPER_OP_EXAMPLE(_npi_cholesky, {}, {{3, 3}});
COOPER_OP_EXAMPLE(_npi_eigh, {}, {{3, 3}});
COOPER_OP_EXAMPLE(_npi_eigvalsh, {}, {{3, 3}});
COOPER_OP_EXAMPLE(_npi_solve, {}, {{3, 3}, {3, 2}});
COOPER_OP_EXAMPLE(_npi_tensorinv, {}, {{2, 3, 6}});
COOPER_OP_EXAMPLE(_npi_tensorsolve, {}, {{2, 3, 6}, {2, 3}});
COOPER_OP_EXAMPLE(_npi_boolean_mask_assign_scalar, {{"value", "2"}}, {{2, 3}, {2}});

}  // namespace
}  // namespace cooper
