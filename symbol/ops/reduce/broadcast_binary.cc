// Operators on two arrays that are broadcast together. MXNet:
// src/operator/tensor/elemwise_binary_broadcast_op*.cc.
//
// The gradient of each side is an operator, _backward_<op>_lhs or _backward_<op>_rhs, that computes
// it elementwise and sums it over the axes along which that side was broadcast. So only the values
// that it needs are kept alive, and a side without a gradient costs nothing.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

constexpr int kLhs = 0;
constexpr int kRhs = 1;

// The inputs of a side's gradient in addition to ograd.
enum class Needs { kNothing, kOther, kBoth };

struct BroadcastOp {
  const char* name;
  const char* alias;  // or null
  const char* doc;
  bool differentiable;
  Needs lhs;
  Needs rhs;
};

constexpr BroadcastOp kOps[] = {
    {"broadcast_add", "broadcast_plus", "lhs + rhs", true, Needs::kNothing, Needs::kNothing},
    {"broadcast_sub", "broadcast_minus", "lhs - rhs", true, Needs::kNothing, Needs::kNothing},
    {"broadcast_mul", nullptr, "lhs * rhs", true, Needs::kOther, Needs::kOther},
    {"broadcast_div", nullptr, "lhs / rhs", true, Needs::kOther, Needs::kBoth},
    {"broadcast_mod", nullptr, "lhs mod rhs", true, Needs::kNothing, Needs::kBoth},
    {"broadcast_power", nullptr, "lhs to the power of rhs", true, Needs::kBoth, Needs::kBoth},
    {"broadcast_maximum", nullptr, "The greater.", true, Needs::kBoth, Needs::kBoth},
    {"broadcast_minimum", nullptr, "The lesser.", true, Needs::kBoth, Needs::kBoth},
    {"broadcast_hypot", nullptr, "sqrt(lhs^2 + rhs^2)", true, Needs::kBoth, Needs::kBoth},
    {"broadcast_equal", nullptr, "1 where lhs == rhs, else 0", false, {}, {}},
    {"broadcast_not_equal", nullptr, "1 where lhs != rhs, else 0", false, {}, {}},
    {"broadcast_greater", nullptr, "1 where lhs > rhs, else 0", false, {}, {}},
    {"broadcast_greater_equal", nullptr, "1 where lhs >= rhs, else 0", false, {}, {}},
    {"broadcast_lesser", nullptr, "1 where lhs < rhs, else 0", false, {}, {}},
    {"broadcast_lesser_equal", nullptr, "1 where lhs <= rhs, else 0", false, {}, {}},
    {"broadcast_logical_and", nullptr, "1 where neither is 0, else 0", false, {}, {}},
    {"broadcast_logical_or", nullptr, "1 where not both are 0, else 0", false, {}, {}},
    {"broadcast_logical_xor", nullptr, "1 where just one is 0, else 0", false, {}, {}},
};

std::vector<std::string> InputsOf(Needs needs, int side) {
  switch (needs) {
    case Needs::kNothing:
      return {"ograd"};
    case Needs::kOther:
      return {"ograd", side == kLhs ? "rhs" : "lhs"};
    case Needs::kBoth:
      break;
  }
  return {"ograd", "lhs", "rhs"};
}

absl::StatusOr<NodeEntry> SideGradient(GradientContext& c, const std::string& op, Needs needs,
                                       int side) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  std::vector<NodeEntry> inputs = {head};
  if (needs == Needs::kOther) inputs.push_back(c.input(1 - side));
  if (needs == Needs::kBoth) inputs.insert(inputs.end(), {c.input(kLhs), c.input(kRhs)});
  COOPER_ASSIGN_OR_RETURN(auto grads, c.Backward(op, std::move(inputs)));
  return grads[0];
}

void RegisterSide(const BroadcastOp& op, int side) {
  const Needs needs = side == kLhs ? op.lhs : op.rhs;
  OpRegistrar(OpBuilder(absl::StrCat("_backward_", op.name, side == kLhs ? "_lhs" : "_rhs"))
                  .Describe("Gradient of the operator with respect to one of its sides.")
                  .Inputs(InputsOf(needs, side))
                  .Shape([side](ShapeContext& c) -> absl::Status {
                    if (c.num_forward_inputs() == 0) return absl::OkStatus();
                    return c.SetOutput(0, c.forward_input(side));
                  })
                  // Inputs may have other dtypes: those of NumPy's operators are promoted.
                  .Type([side](TypeContext& c) -> absl::Status {
                    if (c.num_forward_inputs() == 0) return SameType(c);
                    return c.SetOutput(0, c.forward_input(side));
                  }));
}

void RegisterBroadcastOps() {
  for (const BroadcastOp& op : kOps) {
    OpBuilder builder(op.name);
    if (op.alias != nullptr) std::move(builder).Alias(op.alias);
    if (op.differentiable) {
      RegisterSide(op, kLhs);
      RegisterSide(op, kRhs);
      std::move(builder).Gradient([op](GradientContext& c)
                                      -> absl::StatusOr<std::vector<NodeEntry>> {
        const std::string backward = absl::StrCat("_backward_", op.name);
        COOPER_ASSIGN_OR_RETURN(NodeEntry lhs, SideGradient(c, backward + "_lhs", op.lhs, kLhs));
        COOPER_ASSIGN_OR_RETURN(NodeEntry rhs, SideGradient(c, backward + "_rhs", op.rhs, kRhs));
        return std::vector<NodeEntry>{lhs, rhs};
      });
    }
    OpRegistrar(std::move(builder)
                    .Describe(op.doc)
                    .Inputs({"lhs", "rhs"})
                    .Shape(BroadcastShape)
                    .Type(SameType)
                    .InPlace({{0, 0}, {1, 0}})  // for a side that is not broadcast
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterBroadcastOps(), true);

}  // namespace
}  // namespace cooper
