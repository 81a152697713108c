// Operators whose output is their input and that differ in their gradients. MXNet:
// src/operator/tensor/elemwise_unary_op_basic.cc, src/operator/make_loss.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/make_loss_param.h"
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

COOPER_REGISTER_OP(_copy)
    .Alias("identity")
    .Describe("The input.")
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(HeadGradient)
    .View()
    .Elementwise();

// The executor copies between contexts itself; in a user's graph this operator is a plain copy.
// MXNet: src/operator/cross_device_copy.cc.
COOPER_REGISTER_OP(_CrossDeviceCopy)
    .Describe("The input, on another context. Executors add it where parts of a graph meet.")
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(HeadGradient);

COOPER_REGISTER_OP(BlockGrad)
    .Alias("stop_gradient")
    .Describe("The input; no gradient passes.")
    .Shape(SameShape)
    .Type(SameType)
    .View()
    .Elementwise();

COOPER_REGISTER_OP(_identity_with_attr_like_rhs)
    .Describe("lhs, whose shape and dtype are those of rhs.")
    .Inputs({"lhs", "rhs"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return std::vector<NodeEntry>{head, NodeEntry()};
    })
    .View();

COOPER_REGISTER_OP(make_loss)
    .Describe("The input, as a loss: its gradient is 1 whatever comes from above.")
    .Shape(SameShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry ones, c.Call("ones_like", {c.output(0)}));
      return std::vector<NodeEntry>{ones};
    })
    .View()
    .Elementwise()
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(MakeLoss)
    .Describe(
        "The input, as a loss: its gradient is grad_scale, divided with normalization batch by the "
        "extents of all axes but the last, with valid by the elements above valid_thresh.")
    .Param<MakeLossParam>()
    .Shape(SameShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      return c.Backward("_backward_MakeLoss", {c.output(0)});
    })
    .View()
    .Elementwise()
    .IgnoreHeadGradient();

COOPER_REGISTER_OP(_backward_MakeLoss)
    .Describe("Gradient of MakeLoss.")
    .Param<MakeLossParam>()
    .Shape(SameShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
