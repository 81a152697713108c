// NumPy arithmetic on two arrays, and on an array and a number. MXNet:
// src/operator/numpy/np_elemwise_broadcast_op.cc, np_true_divide.cc.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/numpy/promotion.h"
#include "symbol/ops/numpy/same_as.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Type rule: the promoted dtype if both are known, else one dtype for all.
absl::Status ArithmeticType(TypeContext& c) {
  const TypeContext::Type lhs = c.input(0), rhs = c.input(1);
  if (!lhs.has_value() || !rhs.has_value()) return SameType(c);
  return c.SetOutput(0, PromotedType(*lhs, *rhs));
}

// Type rule: that of ArithmeticType, without bools, for which NumPy has no difference or remainder.
absl::Status NumbersType(TypeContext& c) {
  if (c.input(0) == DType::kBool && c.input(1) == DType::kBool) {
    return absl::InvalidArgumentError(
        "inputs 'lhs' and 'rhs' are bool, expected numbers: cast one of them first");
  }
  return ArithmeticType(c);
}

absl::Status TrueDivideType(TypeContext& c) {
  const TypeContext::Type lhs = c.input(0), rhs = c.input(1);
  if (!lhs.has_value() || !rhs.has_value()) return absl::OkStatus();
  return c.SetOutput(0, QuotientType(*lhs, *rhs));
}

struct BinaryOp {
  const char* name;
  const char* base;
  const char* doc;
  OpSchema::TypeFn type;
};

void RegisterBinaryOps() {
  const BinaryOp ops[] = {
      {"_npi_add", "broadcast_add", "lhs + rhs", ArithmeticType},
      {"_npi_subtract", "broadcast_sub", "lhs - rhs", NumbersType},
      {"_npi_multiply", "broadcast_mul", "lhs * rhs", ArithmeticType},
      {"_npi_mod", "broadcast_mod", "lhs mod rhs", NumbersType},
      {"_npi_power", "broadcast_power", "lhs to the power of rhs", ArithmeticType},
      {"_npi_true_divide", "broadcast_div", "lhs / rhs, also of integers", TrueDivideType},
  };
  for (const BinaryOp& op : ops) {
    OpRegistrar(OpBuilder(op.name)
                    .Describe(op.doc)
                    .Inputs({"lhs", "rhs"})
                    .Shape(BroadcastShape)
                    .Type(op.type)
                    .Gradient(GradientOf(op.base))
                    .InPlace({{0, 0}, {1, 0}})  // for a side that is not broadcast
                    .Elementwise());
  }
}

absl::Status ScalarType(TypeContext& c) {
  if (!c.input(0).has_value()) return SameType(c);
  return c.SetOutput(0, TypeWithScalar(*c.input(0), c.param<ScalarParam>().is_int));
}

absl::Status ScalarQuotientType(TypeContext& c) {
  if (!c.input(0).has_value()) return absl::OkStatus();
  return c.SetOutput(0, QuotientType(*c.input(0), *c.input(0)));
}

void RegisterScalarOps() {
  const BinaryOp ops[] = {
      {"_npi_add_scalar", "_plus_scalar", "data + scalar", ScalarType},
      {"_npi_subtract_scalar", "_minus_scalar", "data - scalar", ScalarType},
      {"_npi_rsubtract_scalar", "_rminus_scalar", "scalar - data", ScalarType},
      {"_npi_multiply_scalar", "_mul_scalar", "data * scalar", ScalarType},
      {"_npi_mod_scalar", "_mod_scalar", "data mod scalar", ScalarType},
      {"_npi_rmod_scalar", "_rmod_scalar", "scalar mod data", ScalarType},
      {"_npi_power_scalar", "_power_scalar", "data to the power of scalar", ScalarType},
      {"_npi_rpower_scalar", "_rpower_scalar", "scalar to the power of data", ScalarType},
      {"_npi_true_divide_scalar", "_div_scalar", "data / scalar, also of integers",
       ScalarQuotientType},
      {"_npi_rtrue_divide_scalar", "_rdiv_scalar", "scalar / data, also of integers",
       ScalarQuotientType},
  };
  for (const BinaryOp& op : ops) {
    OpRegistrar(OpBuilder(op.name)
                    .Describe(op.doc)
                    .Param<ScalarParam>()
                    .Inputs({"data"})
                    .Shape(SameShape)
                    .Type(op.type)
                    .Gradient(GradientOf(op.base))
                    .InPlace({{0, 0}})
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterBinaryOps(), RegisterScalarOps(), true);

}  // namespace
}  // namespace cooper
