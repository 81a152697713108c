// NumPy functions of two elements that older operators do not have, on arrays that are broadcast
// together or on an array and a number. MXNet: src/operator/numpy/np_elemwise_broadcast_op*.cc.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/numpy/promotion.h"
#include "symbol/ops/numpy/same_as.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// Type rule: one dtype for all, of floats, or of integers or bools.
absl::Status TypeOfKind(TypeContext& c, bool floats) {
  COOPER_RETURN_IF_ERROR(SameType(c));
  if (!c.output(0).has_value() || IsFloating(*c.output(0)) == floats) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the inputs are ", DTypeName(*c.output(0)), ", expected ",
                   floats ? "floats" : "integers or bools", ": cast them first"));
}

absl::Status FloatsType(TypeContext& c) { return TypeOfKind(c, /*floats=*/true); }
absl::Status BitsType(TypeContext& c) { return TypeOfKind(c, /*floats=*/false); }

// Type rule: that of NumPy's arithmetic with a number (promotion.h).
absl::Status ScalarType(TypeContext& c) {
  if (!c.input(0).has_value()) return SameType(c);
  return c.SetOutput(0, TypeWithScalar(*c.input(0), c.param<ScalarParam>().is_int));
}

// The sides that have a gradient, which an operator of (ograd, lhs, rhs) computes.
enum class Sides { kNone, kLhs, kBoth };

struct BinaryOp {
  const char* name;
  const char* doc;
  const char* lhs;
  const char* rhs;
  Sides sides;
  absl::Status (*type)(TypeContext&);
};

std::string SideName(const char* name, int side) {
  return absl::StrCat("_backward_npi_", name, side == 0 ? "_lhs" : "_rhs");
}

void RegisterSide(const BinaryOp& op, int side) {
  OpRegistrar(OpBuilder(SideName(op.name, side))
                  .Describe("Gradient of the operator with respect to one of its sides.")
                  .Inputs({"ograd", "lhs", "rhs"})
                  .Shape([side](ShapeContext& c) -> absl::Status {
                    if (c.num_forward_inputs() == 0) return absl::OkStatus();
                    return c.SetOutput(0, c.forward_input(side));
                  })
                  .Type(SameType));
}

OpSchema::GradientFn SideGradients(const BinaryOp& op) {
  if (op.sides == Sides::kNone) return nullptr;
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
    std::vector<NodeEntry> gradients(2);
    for (int side = 0; side < static_cast<int>(op.sides); ++side) {
      COOPER_ASSIGN_OR_RETURN(auto gradient,
                              c.Backward(SideName(op.name, side), {head, c.input(0), c.input(1)}));
      gradients[side] = gradient[0];
    }
    return gradients;
  };
}

void RegisterBinaryOps() {
  const BinaryOp ops[] = {
      {"bitwise_and", "The bits that both have.", "lhs", "rhs", Sides::kNone, BitsType},
      {"bitwise_or", "The bits that one has.", "lhs", "rhs", Sides::kNone, BitsType},
      {"bitwise_xor", "The bits that just one has.", "lhs", "rhs", Sides::kNone, BitsType},
      {"lcm", "The least common multiple.", "lhs", "rhs", Sides::kNone, BitsType},
      {"arctan2", "The angle of the point (x2, x1).", "x1", "x2", Sides::kBoth, FloatsType},
      {"copysign", "|lhs| with the sign of rhs", "lhs", "rhs", Sides::kLhs, SameType},
      {"ldexp", "lhs 2^rhs", "lhs", "rhs", Sides::kBoth, SameType},
  };
  for (const BinaryOp& op : ops) {
    for (int side = 0; side < static_cast<int>(op.sides); ++side) RegisterSide(op, side);
    OpRegistrar(OpBuilder(absl::StrCat("_npi_", op.name))
                    .Describe(op.doc)
                    .Inputs({op.lhs, op.rhs})
                    .Shape(BroadcastShape)
                    .Type(op.type)
                    .Gradient(SideGradients(op))
                    .InPlace({{0, 0}, {1, 0}})  // for a side that is not broadcast
                    .Elementwise());
  }
}

// The gradient of a scalar operator: an operator of (ograd, data), or none.
struct ScalarOp {
  const char* name;
  const char* doc;
  bool differentiable;
  absl::Status (*type)(TypeContext&);
};

void RegisterScalarOps() {
  const ScalarOp ops[] = {
      {"bitwise_and_scalar", "The bits that data and scalar have.", false, BitsType},
      {"bitwise_or_scalar", "The bits that data or scalar has.", false, BitsType},
      {"bitwise_xor_scalar", "The bits that just one of data and scalar has.", false, BitsType},
      {"lcm_scalar", "The least common multiple of data and scalar.", false, BitsType},
      {"arctan2_scalar", "The angle of the point (scalar, data).", true, ScalarType},
      {"rarctan2_scalar", "The angle of the point (data, scalar).", true, ScalarType},
      {"copysign_scalar", "|data| with the sign of scalar", true, ScalarType},
      {"rcopysign_scalar", "|scalar| with the sign of data", false, ScalarType},
      {"ldexp_scalar", "data 2^scalar", true, ScalarType},
      {"rldexp_scalar", "scalar 2^data", true, ScalarType},
  };
  for (const ScalarOp& op : ops) {
    const std::string backward = absl::StrCat("_backward_npi_", op.name);
    OpSchema::GradientFn gradient;
    if (op.differentiable) {
      gradient = [backward](GradientContext& c) -> Entries {
        COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
        return c.Backward(backward, {head, c.input(0)});
      };
      OpRegistrar(OpBuilder(backward)
                      .Describe("Gradient of the operator with respect to data.")
                      .Param<ScalarParam>()
                      .Inputs({"ograd", "data"})
                      .Shape(SameShape)
                      .Type(SameType)
                      .InPlace({{0, 0}, {1, 0}})
                      .Elementwise());
    }
    OpRegistrar(OpBuilder(absl::StrCat("_npi_", op.name))
                    .Describe(op.doc)
                    .Param<ScalarParam>()
                    .Inputs({"data"})
                    .Shape(SameShape)
                    .Type(op.type)
                    .Gradient(std::move(gradient))
                    .InPlace({{0, 0}})
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterBinaryOps(), RegisterScalarOps(), true);

COOPER_REGISTER_OP(_npi_hypot)
    .Describe("sqrt(x1^2 + x2^2)")
    .Inputs({"x1", "x2"})
    .Shape(BroadcastShape)
    .Type(FloatsType)
    .Gradient(GradientOf("broadcast_hypot"))
    .InPlace({{0, 0}, {1, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_npi_bitwise_not)
    .Describe("The bits that x does not have.")
    .Inputs({"x"})
    .Shape(SameShape)
    .Type(BitsType)
    .InPlace({{0, 0}})
    .Elementwise();

}  // namespace
}  // namespace cooper
