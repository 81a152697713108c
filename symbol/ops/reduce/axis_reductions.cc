// Reductions over axes. MXNet: src/operator/tensor/broadcast_reduce_*.cc,
// src/operator/nn/moments.cc.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/reduce_axes.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// Gives all outputs the reduced shape.
absl::Status SetReduced(ShapeContext& c, const OptionalAxes& axes, bool exclude, bool keepdims) {
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, ReducedAxes(axes, exclude, c.input(0).rank()));
  const PartialShape shape = ReducedShape(c.input(0), reduced, keepdims);
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, shape, "data without the reduced axes"));
  }
  return absl::OkStatus();
}

absl::Status ReduceShape(ShapeContext& c) {
  const auto& param = c.param<ReduceParam>();
  return SetReduced(c, param.axis, param.exclude, param.keepdims);
}

// Fails for empty inputs, which have no extreme element.
absl::Status NonEmptyReduceShape(ShapeContext& c) {
  if (c.input(0).IsFull() && c.input(0).num_elements() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", c.input(0).ToString(), " has no elements"));
  }
  return ReduceShape(c);
}

absl::Status NormShape(ShapeContext& c) {
  const auto& param = c.param<NormParam>();
  return SetReduced(c, param.axis, false, param.keepdims);
}

absl::Status NormType(TypeContext& c) {
  const auto& param = c.param<NormParam>();
  if (!param.out_dtype.has_value()) return SameType(c);
  return c.SetOutput(0, param.out_dtype);
}

absl::Status MomentsShape(ShapeContext& c) {
  const auto& param = c.param<MomentsParam>();
  return SetReduced(c, param.axes, false, param.keepdims);
}

// Gradients of linear reductions need only the input's shape.
OpSchema::GradientFn ByHead(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    return c.Backward(op, {head});
  };
}

OpSchema::GradientFn ByInput(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    return c.Backward(op, {head, c.input(0)});
  };
}

OpSchema::GradientFn ByInputAndOutput(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    return c.Backward(op, {head, c.input(0), c.output(0)});
  };
}

OpBuilder Reduction(const char* name, const char* doc, OpSchema::GradientFn gradient) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Param<ReduceParam>()
      .Shape(ReduceShape)
      .Type(SameType)
      .Gradient(std::move(gradient));
  return builder;
}

OpBuilder Backward(const char* name, std::vector<std::string> inputs) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe("Gradient of the reduction with respect to data.")
      .Inputs(std::move(inputs))
      .Shape(GradientShape)
      .Type(GradientType);
  return builder;
}

const OpRegistrar kSum =
    Reduction("sum", "The sum over the axes.", ByHead("_backward_sum")).Alias("sum_axis");
const OpRegistrar kMean = Reduction("mean", "The mean over the axes.", ByHead("_backward_mean"));
const OpRegistrar kProd =
    Reduction("prod", "The product over the axes.", ByInputAndOutput("_backward_prod"));
const OpRegistrar kNansum =
    Reduction("nansum", "The sum of what is not NaN.", ByInput("_backward_nansum"));
const OpRegistrar kNanprod =
    Reduction("nanprod", "The product of what is not NaN.", ByInputAndOutput("_backward_nanprod"));
const OpRegistrar kMax =
    Reduction("max", "The greatest element over the axes.", ByInputAndOutput("_backward_max"))
        .Alias("max_axis")
        .Shape(NonEmptyReduceShape);
const OpRegistrar kMin =
    Reduction("min", "The least element over the axes.", ByInputAndOutput("_backward_min"))
        .Alias("min_axis")
        .Shape(NonEmptyReduceShape);

// Gradient rule: 2 * data * head, with the head repeated along the reduced axes.
const OpRegistrar kSquareSum = Reduction(
    "_square_sum", "The sum of squares over the axes.", [](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> heads, c.Backward("_backward_sum", {head}));
      COOPER_ASSIGN_OR_RETURN(NodeEntry grad, c.Call("_backward_square", {heads[0], c.input(0)}));
      return std::vector<NodeEntry>{grad};
    });

const OpRegistrar kBackwardSum = Backward("_backward_sum", {"ograd"}).Param<ReduceParam>();
const OpRegistrar kBackwardMean = Backward("_backward_mean", {"ograd"}).Param<ReduceParam>();
const OpRegistrar kBackwardNansum =
    Backward("_backward_nansum", {"ograd", "data"}).Param<ReduceParam>();
const OpRegistrar kBackwardProd =
    Backward("_backward_prod", {"ograd", "data", "output"}).Param<ReduceParam>();
const OpRegistrar kBackwardNanprod =
    Backward("_backward_nanprod", {"ograd", "data", "output"}).Param<ReduceParam>();
const OpRegistrar kBackwardMax =
    Backward("_backward_max", {"ograd", "data", "output"}).Param<ReduceParam>();
const OpRegistrar kBackwardMin =
    Backward("_backward_min", {"ograd", "data", "output"}).Param<ReduceParam>();

COOPER_REGISTER_OP(norm)
    .Describe("The 1- or 2-norm over the axes.")
    .Param<NormParam>()
    .Shape(NormShape)
    .Type(NormType)
    .Gradient(ByInputAndOutput("_backward_norm"));
const OpRegistrar kBackwardNorm =
    Backward("_backward_norm", {"ograd", "data", "output"}).Param<NormParam>();

COOPER_REGISTER_OP(moments)
    .Describe("The mean and the (biased) variance over the axes.")
    .Param<MomentsParam>()
    .Outputs({"mean", "var"})
    .Shape(MomentsShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry mean, c.head(0));
      COOPER_ASSIGN_OR_RETURN(NodeEntry var, c.head(1));
      return c.Backward("_backward_moments", {mean, var, c.input(0), c.output(0)});
    });
const OpRegistrar kBackwardMoments =
    Backward("_backward_moments", {"mean_ograd", "var_ograd", "data", "mean"})
        .Param<MomentsParam>();

}  // namespace
}  // namespace cooper
