// Operators on an array and a number. MXNet: src/operator/tensor/elemwise_binary_scalar_op*.cc.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

Entries HeadGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return std::vector<NodeEntry>{head};
}

// Returns a rule that applies operator `op` to the head, with the same scalar if it takes one.
OpSchema::GradientFn HeadThrough(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    AttrMap attrs;
    if (op != "negative") attrs["scalar"] = PrintParamText(c.param<ScalarParam>().scalar);
    COOPER_ASSIGN_OR_RETURN(NodeEntry grad, c.Call(op, {head}, attrs));
    return std::vector<NodeEntry>{grad};
  };
}

// Returns a rule that applies _backward<name> to (ograd, data).
OpSchema::GradientFn GradientByOp(const std::string& name) {
  return [name](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    return c.Backward("_backward" + name, {head, c.input(0)});
  };
}

// Keeps the array's dtype. MXNet converts bool to int64, and integers to float64 if the scalar is
// no integer (NumpyBinaryScalarType, elemwise_binary_scalar_op.h); its gradients then have two
// dtypes and fail later.
absl::Status ScalarType(TypeContext& c) {
  const TypeContext::Type data = c.input(0);
  const bool is_int = c.param<ScalarParam>().is_int;
  if (data == DType::kBool) {
    return absl::InvalidArgumentError("input 'data' is bool, expected numbers: cast it first");
  }
  if (data.has_value() && !IsFloating(*data) && !is_int) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input 'data' is ", DTypeName(*data),
        " and is_int False, expected floats: cast it to float64 first, as MXNet does"));
  }
  return SameType(c);
}

struct ScalarOp {
  const char* name;
  const char* alias;  // or null
  const char* doc;
  OpSchema::GradientFn gradient;
};

void RegisterScalarOps() {
  const ScalarOp ops[] = {
      {"_plus_scalar", "_PlusScalar", "data + scalar", HeadGradient},
      {"_scatter_plus_scalar", nullptr, "data + scalar", HeadGradient},
      {"_minus_scalar", "_MinusScalar", "data - scalar", HeadGradient},
      {"_scatter_minus_scalar", nullptr, "data - scalar", HeadGradient},
      {"_rminus_scalar", "_RMinusScalar", "scalar - data", HeadThrough("negative")},
      {"_mul_scalar", "_MulScalar", "data * scalar", HeadThrough("_mul_scalar")},
      {"_div_scalar", "_DivScalar", "data / scalar", HeadThrough("_div_scalar")},
      {"_rdiv_scalar", "_RDivScalar", "scalar / data", GradientByOp("_rdiv_scalar")},
      {"_mod_scalar", "_ModScalar", "data mod scalar", HeadGradient},
      {"_rmod_scalar", "_RModScalar", "scalar mod data", GradientByOp("_rmod_scalar")},
      {"_maximum_scalar", "_MaximumScalar", "The greater of the two.",
       GradientByOp("_maximum_scalar")},
      {"_minimum_scalar", "_MinimumScalar", "The lesser of the two.",
       GradientByOp("_minimum_scalar")},
      {"_power_scalar", "_PowerScalar", "data to the power of scalar",
       GradientByOp("_power_scalar")},
      {"_rpower_scalar", "_RPowerScalar", "scalar to the power of data",
       GradientByOp("_rpower_scalar")},
      {"_hypot_scalar", "_HypotScalar", "sqrt(data^2 + scalar^2)", GradientByOp("_hypot_scalar")},
      {"_equal_scalar", "_EqualScalar", "1 where data == scalar, else 0", nullptr},
      {"_not_equal_scalar", "_NotEqualScalar", "1 where data != scalar, else 0", nullptr},
      {"_greater_scalar", "_GreaterScalar", "1 where data > scalar, else 0", nullptr},
      {"_greater_equal_scalar", "_GreaterEqualScalar", "1 where data >= scalar, else 0", nullptr},
      {"_lesser_scalar", "_LesserScalar", "1 where data < scalar, else 0", nullptr},
      {"_lesser_equal_scalar", "_LesserEqualScalar", "1 where data <= scalar, else 0", nullptr},
      {"_logical_and_scalar", "_LogicalAndScalar", "1 where neither is 0, else 0", nullptr},
      {"_logical_or_scalar", "_LogicalOrScalar", "1 where not both are 0, else 0", nullptr},
      {"_logical_xor_scalar", "_LogicalXorScalar", "1 where just one is 0, else 0", nullptr},
  };
  for (const ScalarOp& op : ops) {
    OpBuilder builder = OpBuilder(op.name)
                            .Describe(op.doc)
                            .Param<ScalarParam>()
                            .Shape(SameShape)
                            .Type(ScalarType)
                            .Gradient(op.gradient)
                            .InPlace({{0, 0}})
                            .Elementwise();
    OpRegistrar(op.alias == nullptr ? std::move(builder) : std::move(builder).Alias(op.alias));
  }
  for (const char* name :
       {"_backward_rdiv_scalar", "_backward_rmod_scalar", "_backward_maximum_scalar",
        "_backward_minimum_scalar", "_backward_power_scalar", "_backward_rpower_scalar",
        "_backward_hypot_scalar"}) {
    OpRegistrar(OpBuilder(name)
                    .Describe("Gradient of the operator with respect to data.")
                    .Param<ScalarParam>()
                    .Inputs({"ograd", "data"})
                    .Shape(SameShape)
                    .Type(SameType)
                    .InPlace({{0, 0}, {1, 0}})
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterScalarOps(), true);

}  // namespace
}  // namespace cooper
