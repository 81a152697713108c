// Positions of extreme elements, and running sums along an axis. MXNet:
// src/operator/tensor/broadcast_reduce_op_index.cc, src/operator/numpy/np_cumsum.cc.

#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/reduce_axes.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status ArgReduceShape(ShapeContext& c) {
  const auto& param = c.param<ArgReduceParam>();
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  OptionalAxes axes;
  if (param.axis.has_value()) axes = {*param.axis};
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, ReducedAxes(axes, false, data.rank()));
  return c.SetOutput(0, ReducedShape(data, reduced, param.keepdims),
                     "data without the axis searched");
}

// Shape rule: that of argmax with axis 1.
absl::Status ArgmaxChannelShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  const uint64_t reduced = data.rank() > 1 ? 2 : 1;
  return c.SetOutput(0, ReducedShape(data, reduced, false), "data without axis 1");
}

absl::Status CumsumShape(ShapeContext& c) {
  const auto& param = c.param<CumsumParam>();
  const PartialShape& data = c.input(0);
  if (param.axis.has_value()) {
    if (data.rank_known()) {
      COOPER_RETURN_IF_ERROR(NormalizeAxis(*param.axis, data.rank()).status());
    }
    return SameShape(c);
  }
  if (!data.rank_known()) return absl::OkStatus();
  return c.SetOutput(0, {data.num_elements()}, "(size,)");
}

absl::Status CumsumType(TypeContext& c) {
  const auto& param = c.param<CumsumParam>();
  if (param.dtype.has_value()) return c.SetOutput(0, param.dtype);
  // Sums of booleans are counts.
  if (c.input(0) == DType::kBool) return c.SetOutput(0, DType::kInt64);
  return SameType(c);
}

// Before 0.9.5, axis -1 meant the flattened array.
void DropLastAxis(int version, AttrMap& attrs) {
  const auto axis = attrs.find("axis");
  if (version < 905 && axis != attrs.end() && axis->second == "-1") attrs.erase(axis);
}

COOPER_REGISTER_OP(argmax)
    .Describe(
        "The position of the first greatest element along an axis, as a number of data's dtype.")
    .Param<ArgReduceParam>()
    .Shape(ArgReduceShape)
    .Type(SameType)
    .UpgradeAttrs(DropLastAxis);

COOPER_REGISTER_OP(argmin)
    .Describe("The position of the first least element along an axis, as a number of data's dtype.")
    .Param<ArgReduceParam>()
    .Shape(ArgReduceShape)
    .Type(SameType)
    .UpgradeAttrs(DropLastAxis);

COOPER_REGISTER_OP(argmax_channel)
    .Describe("argmax along axis 1.")
    .Shape(ArgmaxChannelShape)
    .Type(SameType);

COOPER_REGISTER_OP(_np_cumsum)
    .Alias("cumsum")
    .Describe("Sums of all elements up to each one, along an axis or over the flat array.")
    .Param<CumsumParam>()
    .Inputs({"a"})
    .Shape(CumsumShape)
    .Type(CumsumType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_np_cumsum", {head});
    });

COOPER_REGISTER_OP(_backward_np_cumsum)
    .Describe("Sums of all head gradients from each one on.")
    .Param<CumsumParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
