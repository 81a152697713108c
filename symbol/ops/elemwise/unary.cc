// Functions of one array. MXNet: src/operator/tensor/elemwise_unary_op*.cc.

#include <string>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/elemwise/unary_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// The value from which _backward_<name> (ograd, value) computes the derivative.
enum class From { kNowhere, kInput, kOutput };

struct UnaryOp {
  const char* name;
  From from;
  const char* doc;
  OpKind kind = OpKind::kOther;
};

constexpr UnaryOp kUnaryOps[] = {
    {"relu", From::kOutput, "max(x, 0)", OpKind::kActivation},
    {"sigmoid", From::kOutput, "1 / (1 + exp(-x))", OpKind::kActivation},
    {"softsign", From::kInput, "x / (1 + |x|)", OpKind::kActivation},
    {"abs", From::kInput, "|x|"},
    {"sign", From::kNowhere, "-1, 0 or 1"},
    {"round", From::kNowhere, "The nearest integer, halves away from 0."},
    {"rint", From::kNowhere, "The nearest integer, halves down."},
    {"ceil", From::kNowhere, "The least integer that is not below x."},
    {"floor", From::kNowhere, "The greatest integer that is not above x."},
    {"trunc", From::kNowhere, "The integer next to x towards 0."},
    {"fix", From::kNowhere, "The nearest integer towards 0."},
    {"square", From::kInput, "x^2"},
    {"sqrt", From::kOutput, "The square root."},
    {"rsqrt", From::kInput, "1 / sqrt(x)"},
    {"cbrt", From::kOutput, "The cube root."},
    {"rcbrt", From::kInput, "1 / cbrt(x)"},
    {"reciprocal", From::kInput, "1 / x"},
    {"log", From::kInput, "The natural logarithm."},
    {"log10", From::kInput, "The logarithm to base 10."},
    {"log2", From::kInput, "The logarithm to base 2."},
    {"log1p", From::kInput, "log(1 + x)"},
    {"expm1", From::kInput, "exp(x) - 1"},
    {"sin", From::kInput, "The sine."},
    {"cos", From::kInput, "The cosine."},
    {"tan", From::kOutput, "The tangent."},
    {"arcsin", From::kInput, "The inverse of sin."},
    {"arccos", From::kInput, "The inverse of cos."},
    {"arctan", From::kInput, "The inverse of tan."},
    {"sinh", From::kInput, "The hyperbolic sine."},
    {"cosh", From::kInput, "The hyperbolic cosine."},
    {"tanh", From::kOutput, "The hyperbolic tangent.", OpKind::kActivation},
    {"arcsinh", From::kInput, "The inverse of sinh."},
    {"arccosh", From::kInput, "The inverse of cosh."},
    {"arctanh", From::kInput, "The inverse of tanh."},
    {"erf", From::kInput, "The error function."},
    {"erfinv", From::kInput, "The inverse of erf."},
    {"gamma", From::kInput, "The gamma function."},
    {"gammaln", From::kInput, "log |gamma(x)|"},
    {"logical_not", From::kNowhere, "1 where x is 0, else 0"},
};

void RegisterBackward(const std::string& name) {
  OpRegistrar(OpBuilder("_backward_" + name)
                  .Describe("ograd times the derivative.")
                  .Inputs({"ograd", "value"})
                  .Shape(SameShape)
                  .Type(SameType)
                  .InPlace({{0, 0}, {1, 0}})
                  .Elementwise());
}

void RegisterUnaryOps() {
  for (const UnaryOp& op : kUnaryOps) {
    OpSchema::GradientFn gradient;
    if (op.from != From::kNowhere) {
      const std::string backward = std::string("_backward_") + op.name;
      gradient = [backward, from = op.from](GradientContext& c) -> Entries {
        COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
        COOPER_ASSIGN_OR_RETURN(
            NodeEntry grad,
            c.Call(backward, {head, from == From::kInput ? c.input(0) : c.output(0)}));
        return std::vector<NodeEntry>{grad};
      };
      RegisterBackward(op.name);
    }
    OpRegistrar(OpBuilder(op.name)
                    .Describe(op.doc)
                    .Shape(SameShape)
                    .Type(SameType)
                    .Gradient(std::move(gradient))
                    .InPlace({{0, 0}})
                    .Kind(op.kind)
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterUnaryOps(), true);

// Returns a gradient rule that applies operator `op` to the head.
OpSchema::GradientFn HeadThrough(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    COOPER_ASSIGN_OR_RETURN(NodeEntry grad, c.Call(op, {head}));
    return std::vector<NodeEntry>{grad};
  };
}

// Returns a gradient rule that applies `op`, with the same parameters, to the head and the input.
OpSchema::GradientFn GradientByOp(const std::string& op) {
  return [op](GradientContext& c) -> Entries {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    return c.Backward(op, {head, c.input(0)});
  };
}

OpBuilder SameShaped(const char* name, const char* doc) {
  return OpBuilder(name).Describe(doc).Shape(SameShape).Type(SameType).InPlace({{0, 0}});
}

OpBuilder Elemwise(const char* name, const char* doc) {
  return SameShaped(name, doc).Elementwise();
}

OpBuilder Backward(const char* name) {
  OpBuilder builder = Elemwise(name, "ograd times the derivative.");
  std::move(builder).Inputs({"ograd", "data"}).InPlace({{0, 0}, {1, 0}});
  return builder;
}

// A linear function: the gradient applies the same function to the head.
const OpRegistrar kNegative = Elemwise("negative", "-x").Gradient(HeadThrough("negative"));
const OpRegistrar kDivSqrtDim =
    SameShaped("_contrib_div_sqrt_dim", "x divided by the square root of its last extent")
        .Gradient(HeadThrough("_contrib_div_sqrt_dim"));
const OpRegistrar kDegrees =
    Elemwise("degrees", "Radians to degrees.").Gradient(HeadThrough("degrees"));
const OpRegistrar kRadians =
    Elemwise("radians", "Degrees to radians.").Gradient(HeadThrough("radians"));

const OpRegistrar kExp =
    Elemwise("exp", "e to the power of x").Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(NodeEntry grad, c.Call("elemwise_mul", {head, c.output(0)}));
      return std::vector<NodeEntry>{grad};
    });

const OpRegistrar kClip = Elemwise("clip", "x, but at least a_min and at most a_max.")
                              .Param<ClipParam>()
                              .Gradient(GradientByOp("_backward_clip"));
const OpRegistrar kBackwardClip = Backward("_backward_clip").Param<ClipParam>();

const OpRegistrar kHardSigmoid = Elemwise("hard_sigmoid", "alpha * x + beta, clipped to [0, 1].")
                                     .Param<HardSigmoidParam>()
                                     .Gradient(GradientByOp("_backward_hard_sigmoid"));
const OpRegistrar kBackwardHardSigmoid =
    Backward("_backward_hard_sigmoid").Param<HardSigmoidParam>();

const OpRegistrar kSmoothL1 =
    Elemwise("smooth_l1", "(scalar x)^2 / 2 where |x| < 1 / scalar^2, else |x| - 1 / (2 scalar^2)")
        .Param<ScalarParam>()
        .Gradient(GradientByOp("_backward_smooth_l1"));
const OpRegistrar kBackwardSmoothL1 = Backward("_backward_smooth_l1").Param<ScalarParam>();

}  // namespace
}  // namespace cooper
