// NumPy reductions over axes. MXNet: src/operator/numpy/np_broadcast_reduce_op_value.cc,
// np_broadcast_reduce_op_index.cc, np_moments_op.cc.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

absl::Status SetReduced(ShapeContext& c, const OptionalAxes& axes, bool keepdims) {
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, NumpyReducedAxes(axes, c.input(0).rank()));
  return c.SetOutput(0, NumpyReducedShape(c.input(0), reduced, keepdims),
                     "a without the reduced axes");
}

template <typename Param>
absl::Status ReduceShape(ShapeContext& c) {
  const auto& param = c.param<Param>();
  if (param.initial.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("initial is ", *param.initial, ", expected None, as MXNet does"));
  }
  return SetReduced(c, param.axis, param.keepdims);
}

// Shape rule: fails for an extreme element of no elements.
absl::Status ExtremeShape(ShapeContext& c) {
  const PartialShape& a = c.input(0);
  if (a.rank_known()) {
    const auto& axes = c.param<NumpyReduceParam>().axis;
    COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, NumpyReducedAxes(axes, a.rank()));
    for (int axis = 0; axis < a.rank(); ++axis) {
      if ((reduced >> axis & 1) == 0 || a[axis] != 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("input 'a' ", a.ToString(), " has no elements on axis ", axis));
    }
  }
  return ReduceShape<NumpyReduceParam>(c);
}

absl::Status MomentsShape(ShapeContext& c) {
  const auto& param = c.param<NumpyMomentsParam>();
  return SetReduced(c, param.axis, param.keepdims);
}

absl::Status ArgShape(ShapeContext& c) {
  const auto& param = c.param<ArgReduceParam>();
  OptionalAxes axes;
  if (param.axis.has_value()) axes = {*param.axis};
  return SetReduced(c, axes, param.keepdims);
}

absl::Status SumType(TypeContext& c) {
  const auto& param = c.param<NumpySumParam>();
  if (param.dtype.has_value()) return c.SetOutput(0, param.dtype);
  if (c.input(0) == DType::kBool) return c.SetOutput(0, DType::kInt64);
  return SameType(c);
}

absl::Status MeanType(TypeContext& c) {
  const auto& param = c.param<NumpySumParam>();
  if (param.dtype.has_value()) return c.SetOutput(0, param.dtype);
  if (!c.input(0).has_value()) return absl::OkStatus();
  return c.SetOutput(0, IsFloating(*c.input(0)) ? *c.input(0) : DType::kFloat32);
}

absl::Status MomentsType(TypeContext& c) {
  const auto& param = c.param<NumpyMomentsParam>();
  if (param.dtype.has_value()) return c.SetOutput(0, param.dtype);
  return SameType(c);
}

absl::Status Int64Type(TypeContext& c) { return c.SetOutput(0, DType::kInt64); }

// Returns a rule that applies the operator to the head, and to input and output if it needs them.
OpSchema::GradientFn BackwardBy(const std::string& op, bool needs_values) {
  return [op, needs_values](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    std::vector<NodeEntry> inputs = {head};
    if (needs_values) inputs.insert(inputs.end(), {c.input(0), c.output(0)});
    return c.Backward(op, std::move(inputs));
  };
}

struct Reduction {
  const char* name;
  const char* doc;
  bool needs_values;  // whether the gradient depends on input and output
  OpSchema::ShapeFn shape;
  OpSchema::TypeFn type;
  const char* input = "a";
};

template <typename Param>
void Register(const Reduction& op) {
  const std::string backward = absl::StrCat("_backward", op.name);
  OpRegistrar(OpBuilder(op.name)
                  .Describe(op.doc)
                  .Param<Param>()
                  .Inputs({op.input})
                  .Shape(op.shape)
                  .Type(op.type)
                  .Gradient(BackwardBy(backward, op.needs_values)));
  std::vector<std::string> inputs = {"ograd"};
  if (op.needs_values) inputs.insert(inputs.end(), {"data", "output"});
  OpRegistrar(OpBuilder(backward)
                  .Describe("Gradient of the reduction with respect to a.")
                  .Param<Param>()
                  .Inputs(std::move(inputs))
                  .Shape(GradientShape)
                  .Type(GradientType));
}

absl::Status NormShape(ShapeContext& c) {
  const auto& param = c.param<NumpyNormParam>();
  if (!param.is_supported()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no norm with ord ", param.ord, " and flag ", param.flag,
                     ": expected ord 1 or 2 of vectors, or the Frobenius norm of matrices"));
  }
  return SetReduced(c, param.axis, param.keepdims);
}

bool RegisterReductions() {
  Register<NumpySumParam>(
      {"_np_sum", "The sum over the axes.", false, ReduceShape<NumpySumParam>, SumType});
  Register<NumpySumParam>(
      {"_npi_mean", "The mean over the axes.", false, ReduceShape<NumpySumParam>, MeanType});
  Register<NumpySumParam>(
      {"_np_prod", "The product over the axes.", true, ReduceShape<NumpySumParam>, SumType});
  Register<NumpyReduceParam>(
      {"_np_max", "The greatest element over the axes.", true, ExtremeShape, SameType});
  Register<NumpyReduceParam>(
      {"_np_min", "The least element over the axes.", true, ExtremeShape, SameType});
  Register<NumpyNormParam>(
      {"_npi_norm", "The 1- or 2-norm over the axes.", true, NormShape, SameType, "data"});
  return true;
}

const bool kRegistered = RegisterReductions();

COOPER_REGISTER_OP(_npi_var)
    .Describe("The variance over the axes; no gradient, as in MXNet.")
    .Param<NumpyMomentsParam>()
    .Inputs({"a"})
    .Outputs({"var"})
    .Shape(MomentsShape)
    .Type(MomentsType);

COOPER_REGISTER_OP(_npi_std)
    .Describe("The standard deviation over the axes; no gradient, as in MXNet.")
    .Param<NumpyMomentsParam>()
    .Inputs({"a"})
    .Outputs({"std"})
    .Shape(MomentsShape)
    .Type(MomentsType);

absl::Status TruthShape(ShapeContext& c) {
  const auto& param = c.param<NumpyTruthParam>();
  return SetReduced(c, param.axis, param.keepdims);
}

absl::Status BoolType(TypeContext& c) { return c.SetOutput(0, DType::kBool); }

COOPER_REGISTER_OP(_np_all)
    .Describe("Whether all elements over the axes differ from 0.")
    .Param<NumpyTruthParam>()
    .Inputs({"data"})
    .Shape(TruthShape)
    .Type(BoolType);

COOPER_REGISTER_OP(_np_any)
    .Describe("Whether an element over the axes differs from 0.")
    .Alias("_np_sometrue")
    .Param<NumpyTruthParam>()
    .Inputs({"data"})
    .Shape(TruthShape)
    .Type(BoolType);

COOPER_REGISTER_OP(_npi_argmax)
    .Describe("The position of the first greatest element along an axis, as int64.")
    .Param<ArgReduceParam>()
    .Inputs({"data"})
    .Shape(ArgShape)
    .Type(Int64Type);

COOPER_REGISTER_OP(_npi_argmin)
    .Describe("The position of the first least element along an axis, as int64.")
    .Param<ArgReduceParam>()
    .Inputs({"data"})
    .Shape(ArgShape)
    .Type(Int64Type);

}  // namespace
}  // namespace cooper
