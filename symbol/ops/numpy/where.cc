// Chooses from arrays and numbers by a condition, with broadcasting. MXNet:
// src/operator/numpy/np_where_op.cc.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/where_param.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;
using enum NumpyWhereArrays::Input;

// Shape rule: all inputs are broadcast together.
absl::Status WhereShape(ShapeContext& c) {
  const OpSchema::Names names = c.call().op->InputNames(c.call());
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
  }
  PartialShape shape = c.input(kCondition);
  for (int i = 1; i < c.num_inputs(); ++i) {
    COOPER_ASSIGN_OR_RETURN(shape,
                            BroadcastTogether(shape, names[kCondition], c.input(i), names[i]));
  }
  return c.SetOutput(0, shape, "the inputs broadcast together");
}

// Type rule: all but the condition have one dtype.
absl::Status WhereType(TypeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(i)));
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(0)));
  }
  for (int i = 1; i < c.num_inputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(0)));
  return absl::OkStatus();
}

// Returns the gradient rule of an operator with `arrays` arrays to choose from.
OpSchema::GradientFn WhereGradient(const std::string& op, int arrays) {
  return [op, arrays](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    COOPER_ASSIGN_OR_RETURN(auto grads, c.Backward(op, {c.input(kCondition), head}));
    std::vector<NodeEntry> all = {NodeEntry()};
    all.insert(all.end(), grads.begin(), grads.begin() + arrays);
    return all;
  };
}

// Rules of gradients: output i belongs to forward input i + 1.
absl::Status WhereBackwardShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs() && i + 1 < c.num_forward_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, c.forward_input(i + 1)));
  }
  return absl::OkStatus();
}

absl::Status WhereBackwardType(TypeContext& c) {
  for (int i = 0; i < c.num_outputs() && i + 1 < c.num_forward_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, c.forward_input(i + 1)));
  }
  return absl::OkStatus();
}

OpBuilder Backward(const char* name, std::vector<std::string> outputs) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe("The head gradient where the array was chosen.")
      .Inputs({"condition", "ograd"})
      .Outputs(std::move(outputs))
      .Shape(WhereBackwardShape)
      .Type(WhereBackwardType);
  return builder;
}

COOPER_REGISTER_OP(_npi_where)
    .Describe("x where condition is not 0, else y, all broadcast together.")
    .Inputs({"condition", "x", "y"})
    .Shape(WhereShape)
    .Type(WhereType)
    .Gradient(WhereGradient("_backward_np_where", 2));

COOPER_REGISTER_OP(_npi_where_lscalar)
    .Describe("scalar where condition is not 0, else x.")
    .Param<NumpyWhereScalarParam>()
    .Inputs({"condition", "x"})
    .Shape(WhereShape)
    .Type(WhereType)
    .Gradient(WhereGradient("_backward_np_where_lscalar", 1));

COOPER_REGISTER_OP(_npi_where_rscalar)
    .Describe("y where condition is not 0, else scalar.")
    .Param<NumpyWhereScalarParam>()
    .Inputs({"condition", "y"})
    .Shape(WhereShape)
    .Type(WhereType)
    .Gradient(WhereGradient("_backward_np_where_rscalar", 1));

COOPER_REGISTER_OP(_npi_where_scalar2)
    .Describe("The number x where condition is not 0, else the number y, as float32.")
    .Param<NumpyWhereScalar2Param>()
    .Inputs({"condition"})
    .Shape(SameShape)
    .Type([](TypeContext& c) { return c.SetOutput(0, DType::kFloat32); });

const OpRegistrar kBackward = Backward("_backward_np_where", {"x", "y"});
const OpRegistrar kBackwardLeft =
    Backward("_backward_np_where_lscalar", {"x"}).Param<NumpyWhereScalarParam>();
const OpRegistrar kBackwardRight =
    Backward("_backward_np_where_rscalar", {"y"}).Param<NumpyWhereScalarParam>();

}  // namespace
}  // namespace cooper
