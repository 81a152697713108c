// Gathers and scatters elements at indices of several axes. MXNet:
// src/operator/tensor/indexing_op.h and ravel.h.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/gather_nd_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Sets *picked to the shape of the elements that indices (m, ...) select from `whole`: (...,
// whole's axes from m on). Leaves it alone if it is not known yet.
absl::Status PickedShape(const PartialShape& whole, const PartialShape& indices,
                         PartialShape* picked) {
  if (!whole.rank_known() || !indices.rank_known()) return absl::OkStatus();
  if (indices.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("input 'indices' ", indices.ToString(),
                                                   " needs an axis of coordinates and others"));
  }
  if (!indices.dim_known(0)) return absl::OkStatus();
  const int64_t m = indices[0];
  if (m > whole.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("input 'indices' ", indices.ToString(), " has ",
                                                   m, " coordinates for an array of shape ",
                                                   whole.ToString()));
  }
  std::vector<int64_t> dims(indices.dims().begin() + 1, indices.dims().end());
  dims.insert(dims.end(), whole.dims().begin() + m, whole.dims().end());
  *picked = PartialShape(dims);
  return absl::OkStatus();
}

absl::Status FirstInputType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  return c.SetInput(0, c.output(0));
}

COOPER_REGISTER_OP(gather_nd)
    .Describe("The parts of data at indices, whose first axis is that of coordinates.")
    .Alias("_npi_gather_nd")
    .Alias("_npx_gather_nd")
    .Inputs({"data", "indices"})
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape picked;
      COOPER_RETURN_IF_ERROR(PickedShape(c.input(0), c.input(1), &picked));
      return c.SetOutput(0, picked, "the parts of data");
    })
    .Type(FirstInputType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_gather_nd", {head, c.input(1)});
    });

COOPER_REGISTER_OP(_backward_gather_nd)
    .Describe("ograd added up at the indices.")
    .Inputs({"ograd", "indices"})
    .Shape(GradientShape)
    .Type(GradientType);

// Sets the shape of input `values`, which is scattered into `shape`.
absl::Status ScatterShape(ShapeContext& c, int values, int indices) {
  const PartialShape whole = PartialShape::FromMXNet(c.param<ScatterNdParam>().shape);
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, whole, "shape"));
  PartialShape picked;
  COOPER_RETURN_IF_ERROR(PickedShape(c.output(0), c.input(indices), &picked));
  return c.SetInput(values, picked, "the parts of the output that indices name");
}

COOPER_REGISTER_OP(scatter_nd)
    .Describe("Zeros with data at indices, whose first axis is that of coordinates.")
    .Param<ScatterNdParam>()
    .Inputs({"data", "indices"})
    .Shape([](ShapeContext& c) { return ScatterShape(c, 0, 1); })
    .Type(FirstInputType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(NodeEntry gradient, c.Call("gather_nd", {head, c.input(1)}));
      return std::vector<NodeEntry>{gradient, NodeEntry()};
    });

COOPER_REGISTER_OP(_scatter_set_nd)
    .Describe("lhs with rhs at indices, whose first axis is that of coordinates.")
    .Alias("_npi_scatter_set_nd")
    .Param<ScatterNdParam>()
    .Inputs({"lhs", "rhs", "indices"})
    .Shape([](ShapeContext& c) -> absl::Status {
      // Sets the output first, since the scattered parts have its trailing axes.
      COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
      COOPER_RETURN_IF_ERROR(ScatterShape(c, 1, 2));
      return c.SetInput(0, c.output(0), "shape");
    })
    .Type([](TypeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(FirstInputType(c));
      COOPER_RETURN_IF_ERROR(c.SetInput(1, c.input(0)));
      return c.SetInput(0, c.input(1));
    })
    .InPlace({{0, 0}});

// Shape rule: multi-indices (rank of shape, n), flat indices (n,).
absl::Status RavelShape(ShapeContext& c, bool input_is_multi) {
  const auto& shape = c.param<RavelParam>().shape;
  if (shape.empty()) return absl::InvalidArgumentError("shape is empty");
  // The first extent is not used; MXNet's users set it to -1.
  if (std::any_of(shape.begin() + 1, shape.end(), [](int64_t extent) { return extent < 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", PrintParamText(shape), " has a negative extent after the first"));
  }
  const int64_t rank = static_cast<int64_t>(shape.size());
  PartialShape multi = {rank, kUnknownDim}, flat = {kUnknownDim};
  const PartialShape& multi_in = input_is_multi ? c.input(0) : c.output(0);
  const PartialShape& flat_in = input_is_multi ? c.output(0) : c.input(0);
  if (multi_in.rank() == 2) flat[0] = multi_in[1];
  if (flat_in.rank() == 1) multi[1] = flat_in[0];
  if (input_is_multi) {
    COOPER_RETURN_IF_ERROR(c.SetInput(0, multi, "(rank of shape, n)"));
    return c.SetOutput(0, flat, "(n,)");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(0, flat, "(n,)"));
  return c.SetOutput(0, multi, "(rank of shape, n)");
}

COOPER_REGISTER_OP(_ravel_multi_index)
    .Describe("Indices into an array of the given shape as indices into it flattened.")
    .Alias("ravel_multi_index")
    .Param<RavelParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) { return RavelShape(c, true); })
    .Type(SameType);

COOPER_REGISTER_OP(_unravel_index)
    .Describe("Indices into a flattened array as indices into it with the given shape.")
    .Alias("unravel_index")
    .Param<RavelParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) { return RavelShape(c, false); })
    .Type(SameType);

COOPER_OP_EXAMPLE(_ravel_multi_index, {{"shape", "(4, 5)"}}, {{2, 3}});
COOPER_OP_EXAMPLE(_scatter_set_nd, {{"shape", "(4,)"}}, {{4}, {3}, {1, 3}});
COOPER_OP_EXAMPLE(_unravel_index, {{"shape", "(4, 5)"}}, {{3}});
COOPER_OP_EXAMPLE(scatter_nd, {{"shape", "(4,)"}}, {{3}, {1, 3}});

}  // namespace
}  // namespace cooper
