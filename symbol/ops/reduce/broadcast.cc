// Operators that broadcast an array along its axes of extent 1. MXNet:
// src/operator/tensor/broadcast_reduce_op_value.cc.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/broadcast_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CannotBroadcast(const PartialShape& from, const PartialShape& to) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot broadcast ", from.ToString(), " to ", to.ToString()));
}

// Checks that each extent of `from` is 1, unknown, or equal to that of `to`.
absl::Status CheckBroadcast(const PartialShape& from, const PartialShape& to) {
  if (from.rank() != to.rank()) return CannotBroadcast(from, to);
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from.dim_known(axis) && to.dim_known(axis) && from[axis] != 1 && from[axis] != to[axis]) {
      return CannotBroadcast(from, to);
    }
  }
  return absl::OkStatus();
}

absl::Status BroadcastAxisShape(ShapeContext& c) {
  const auto& param = c.param<BroadcastAxisParam>();
  PartialShape shape = c.input(0);
  if (param.axis.size() != param.size.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis has ", param.axis.size(), " elements, size has ", param.size.size()));
  }
  if (!shape.rank_known()) return absl::OkStatus();
  for (size_t i = 0; i < param.axis.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis[i], shape.rank()));
    if (shape.dim_known(axis) && shape[axis] != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input 'data' has shape ", c.input(0).ToString(), ", expected 1 on axis ", axis));
    }
    if (param.size[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("size is ", PrintParamText(param.size), ", expected extents"));
    }
    shape[axis] = param.size[i];
  }
  return c.SetOutput(0, shape, "data with the extents of size");
}

absl::Status BroadcastToShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  const std::vector<int64_t>& extents = c.param<BroadcastToParam>().shape;
  if (absl::c_any_of(extents, [](int64_t extent) { return extent < 0; })) {
    return absl::InvalidArgumentError(absl::StrCat("shape is ", PrintParamText(extents),
                                                   ", expected extents, or 0 for those of data"));
  }
  PartialShape shape(extents);
  if (shape.rank() != data.rank()) return CannotBroadcast(data, shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 0) shape[axis] = data[axis];
  }
  COOPER_RETURN_IF_ERROR(CheckBroadcast(data, shape));
  return c.SetOutput(0, shape, "the attribute shape");
}

absl::Status BroadcastLikeShape(ShapeContext& c) {
  const auto& param = c.param<BroadcastLikeParam>();
  const PartialShape& lhs = c.input(0);
  const PartialShape& rhs = c.input(1);
  if (!lhs.rank_known() || !rhs.rank_known()) return absl::OkStatus();
  if (!param.lhs_axes.has_value() || !param.rhs_axes.has_value()) {
    COOPER_RETURN_IF_ERROR(CheckBroadcast(lhs, rhs));
    return c.SetOutput(0, rhs, "the shape of rhs");
  }
  if (param.lhs_axes->size() != param.rhs_axes->size() || param.lhs_axes->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("lhs_axes has ", param.lhs_axes->size(), " elements, rhs_axes has ",
                     param.rhs_axes->size(), ", expected equally many and at least one"));
  }
  PartialShape shape = lhs;
  for (size_t i = 0; i < param.lhs_axes->size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const int to, NormalizeAxis((*param.lhs_axes)[i], lhs.rank()));
    COOPER_ASSIGN_OR_RETURN(const int from, NormalizeAxis((*param.rhs_axes)[i], rhs.rank()));
    if (lhs.dim_known(to) && lhs[to] != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("input 'lhs' has shape ", lhs.ToString(), ", expected 1 on axis ", to));
    }
    shape[to] = rhs[from];
  }
  return c.SetOutput(0, shape, "lhs with extents of rhs");
}

absl::Status FirstInputType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  return c.SetInput(0, c.output(0));
}

absl::StatusOr<std::vector<NodeEntry>> BroadcastGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_broadcast_backward", {head});
}

COOPER_REGISTER_OP(broadcast_axis)
    .Alias("broadcast_axes")
    .Describe("data repeated along the axes given.")
    .Param<BroadcastAxisParam>()
    .Shape(BroadcastAxisShape)
    .Type(SameType)
    .Gradient(BroadcastGradient);

COOPER_REGISTER_OP(broadcast_to)
    .Describe("data repeated to the shape given.")
    .Param<BroadcastToParam>()
    .Shape(BroadcastToShape)
    .Type(SameType)
    .Gradient(BroadcastGradient);

COOPER_REGISTER_OP(broadcast_like)
    .Describe("lhs repeated to extents of rhs.")
    .Param<BroadcastLikeParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(BroadcastLikeShape)
    .Type(FirstInputType)
    .Gradient(BroadcastGradient);

COOPER_REGISTER_OP(_broadcast_backward)
    .Describe("The head gradient summed over the axes along which data was repeated.")
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(broadcast_to, {{"shape", "(2, 3)"}}, {{1, 3}});

}  // namespace
}  // namespace cooper
