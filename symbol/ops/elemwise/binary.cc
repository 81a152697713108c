// Operators on two arrays of one shape. MXNet: src/operator/tensor/elemwise_binary_op*.cc.
//
// A gradient that needs a function of its own is an operator per side, named _backward_<op>_lhs and
// _backward_<op>_rhs, of (ograd, lhs, rhs).

#include <string>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

Entries AddGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return std::vector<NodeEntry>{head, head};
}

Entries SubGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry rhs, c.Call("negative", {head}));
  return std::vector<NodeEntry>{head, rhs};
}

Entries MulGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry lhs, c.Call("elemwise_mul", {head, c.input(1)}));
  COOPER_ASSIGN_OR_RETURN(NodeEntry rhs, c.Call("elemwise_mul", {head, c.input(0)}));
  return std::vector<NodeEntry>{lhs, rhs};
}

Entries DivGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry lhs, c.Call("elemwise_div", {head, c.input(1)}));
  COOPER_ASSIGN_OR_RETURN(NodeEntry rhs,
                          c.Call("_backward_div_rhs", {head, c.input(0), c.input(1)}));
  return std::vector<NodeEntry>{lhs, rhs};
}

// Returns a gradient rule with the operators _backward_<name>_lhs and _backward_<name>_rhs.
OpSchema::GradientFn GradientByOps(const std::string& name) {
  return [name](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    std::vector<NodeEntry> grads;
    for (const char* side : {"_lhs", "_rhs"}) {
      COOPER_ASSIGN_OR_RETURN(NodeEntry grad,
                              c.Call("_backward_" + name + side, {head, c.input(0), c.input(1)}));
      grads.push_back(grad);
    }
    return grads;
  };
}

// x mod y = x - y floor(x / y): the gradient passes through to x.
Entries ModGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry rhs,
                          c.Call("_backward_mod_rhs", {head, c.input(0), c.input(1)}));
  return std::vector<NodeEntry>{head, rhs};
}

struct BinaryOp {
  const char* name;
  std::vector<const char*> aliases;
  const char* doc;
  OpSchema::GradientFn gradient;
};

void RegisterBinaryOps() {
  const BinaryOp ops[] = {
      {"elemwise_add", {"_add", "_plus", "_Plus"}, "lhs + rhs", AddGradient},
      {"elemwise_sub", {"_sub", "_minus", "_Minus"}, "lhs - rhs", SubGradient},
      {"elemwise_mul", {"_mul", "_Mul"}, "lhs * rhs", MulGradient},
      {"elemwise_div", {"_div", "_Div"}, "lhs / rhs", DivGradient},
      {"_scatter_elemwise_div", {}, "lhs / rhs", DivGradient},
      {"_grad_add", {}, "lhs + rhs, of two gradients", AddGradient},
      {"_maximum", {"_Maximum"}, "The greater; lhs where it is NaN.", GradientByOps("maximum")},
      {"_minimum", {"_Minimum"}, "The lesser; lhs where it is NaN.", GradientByOps("minimum")},
      {"_power", {"_Power"}, "lhs to the power of rhs", GradientByOps("power")},
      {"_mod", {"_Mod"}, "lhs mod rhs, with the sign of rhs; 0 where rhs is 0", ModGradient},
      {"_hypot", {"_Hypot"}, "sqrt(lhs^2 + rhs^2)", GradientByOps("hypot")},
      {"_equal", {"_Equal"}, "1 where lhs == rhs, else 0", nullptr},
      {"_not_equal", {"_Not_Equal"}, "1 where lhs != rhs, else 0", nullptr},
      {"_greater", {"_Greater"}, "1 where lhs > rhs, else 0", nullptr},
      {"_greater_equal", {"_Greater_Equal"}, "1 where lhs >= rhs, else 0", nullptr},
      {"_lesser", {"_Lesser"}, "1 where lhs < rhs, else 0", nullptr},
      {"_lesser_equal", {"_Lesser_Equal"}, "1 where lhs <= rhs, else 0", nullptr},
      {"_logical_and", {"_Logical_And"}, "1 where neither is 0, else 0", nullptr},
      {"_logical_or", {"_Logical_Or"}, "1 where not both are 0, else 0", nullptr},
      {"_logical_xor", {"_Logical_Xor"}, "1 where just one is 0, else 0", nullptr},
  };
  for (const BinaryOp& op : ops) {
    OpBuilder builder(op.name);
    for (const char* alias : op.aliases) std::move(builder).Alias(alias);
    OpRegistrar(std::move(builder)
                    .Describe(op.doc)
                    .Inputs({"lhs", "rhs"})
                    .Shape(SameShape)
                    .Type(SameType)
                    .Gradient(op.gradient)
                    .InPlace({{0, 0}, {1, 0}})
                    .Elementwise());
  }
  for (const char* name :
       {"_backward_div_rhs", "_backward_maximum_lhs", "_backward_maximum_rhs",
        "_backward_minimum_lhs", "_backward_minimum_rhs", "_backward_power_lhs",
        "_backward_power_rhs", "_backward_mod_rhs", "_backward_hypot_lhs", "_backward_hypot_rhs"}) {
    OpRegistrar(OpBuilder(name)
                    .Describe("Gradient of the operator with respect to one of its sides.")
                    .Inputs({"ograd", "lhs", "rhs"})
                    .Shape(SameShape)
                    .Type(SameType)
                    .InPlace({{0, 0}, {1, 0}, {2, 0}})
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterBinaryOps(), true);

}  // namespace
}  // namespace cooper
