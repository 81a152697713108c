// Functions of one array, element by element, and copies.

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "symbol/ops/elemwise/cast_param.h"
#include "symbol/ops/elemwise/quadratic_param.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/elemwise/unary_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;

// Registers an operator that is `onnx_op` with the same meaning.
template <const char* kOnnxOp>
absl::Status ExportAs(NodeExport& c) {
  c.Return(c.Emit(kOnnxOp, {c.input(kData)}));
  return absl::OkStatus();
}

#define COOPER_ONNX_UNARY(op, onnx_op)     \
  constexpr char kNameOf_##op[] = onnx_op; \
  const OnnxRegistrar kUnary_##op({#op}, onnx_op, ExportAs<kNameOf_##op>)

COOPER_ONNX_UNARY(relu, "Relu");
COOPER_ONNX_UNARY(sigmoid, "Sigmoid");
COOPER_ONNX_UNARY(softsign, "Softsign");
COOPER_ONNX_UNARY(tanh, "Tanh");
COOPER_ONNX_UNARY(abs, "Abs");
COOPER_ONNX_UNARY(sign, "Sign");
COOPER_ONNX_UNARY(ceil, "Ceil");
COOPER_ONNX_UNARY(floor, "Floor");
COOPER_ONNX_UNARY(sqrt, "Sqrt");
COOPER_ONNX_UNARY(reciprocal, "Reciprocal");
COOPER_ONNX_UNARY(log, "Log");
COOPER_ONNX_UNARY(exp, "Exp");
COOPER_ONNX_UNARY(negative, "Neg");
COOPER_ONNX_UNARY(sin, "Sin");
COOPER_ONNX_UNARY(cos, "Cos");
COOPER_ONNX_UNARY(tan, "Tan");
COOPER_ONNX_UNARY(arcsin, "Asin");
COOPER_ONNX_UNARY(arccos, "Acos");
COOPER_ONNX_UNARY(arctan, "Atan");
COOPER_ONNX_UNARY(sinh, "Sinh");
COOPER_ONNX_UNARY(cosh, "Cosh");
COOPER_ONNX_UNARY(arcsinh, "Asinh");
COOPER_ONNX_UNARY(arccosh, "Acosh");
COOPER_ONNX_UNARY(arctanh, "Atanh");
COOPER_ONNX_UNARY(erf, "Erf");

absl::Status ExportSquare(NodeExport& c) {
  c.Return(c.Emit("Mul", {c.input(kData), c.input(kData)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(square, "Mul", ExportSquare);

absl::Status ExportRsqrt(NodeExport& c) {
  c.Return(c.Emit("Reciprocal", {c.Emit("Sqrt", {c.input(kData)})}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(rsqrt, "Sqrt, Reciprocal", ExportRsqrt);

// sign(x) |x|^(1/3): a power of a negative number has no value.
std::string CubeRoot(NodeExport& c) {
  const std::string size = c.Emit("Abs", {c.input(kData)});
  const std::string root = c.Emit("Pow", {size, c.Scalar(1.0 / 3)});
  return c.Emit("Mul", {c.Emit("Sign", {c.input(kData)}), root});
}
const OnnxRegistrar kCbrt({"cbrt"}, "Abs, Pow, Sign", [](NodeExport& c) {
  c.Return(CubeRoot(c));
  return absl::OkStatus();
});
const OnnxRegistrar kRcbrt({"rcbrt"}, "Abs, Pow, Sign, Reciprocal", [](NodeExport& c) {
  c.Return(c.Emit("Reciprocal", {CubeRoot(c)}));
  return absl::OkStatus();
});

// The number rounded towards 0: sign(x) floor(|x|).
std::string TowardsZero(NodeExport& c, const std::string& data) {
  const std::string size = c.Emit("Floor", {c.Emit("Abs", {data})});
  return c.Emit("Mul", {c.Emit("Sign", {data}), size});
}
const OnnxRegistrar kTrunc({"trunc", "fix"}, "Abs, Floor, Sign", [](NodeExport& c) {
  c.Return(TowardsZero(c, c.input(kData)));
  return absl::OkStatus();
});

// Halves away from 0: sign(x) floor(|x| + 1/2). ONNX's Round takes the even number.
const OnnxRegistrar kRound({"round"}, "Abs, Floor, Sign", [](NodeExport& c) {
  const std::string size = c.Emit("Abs", {c.input(kData)});
  const std::string floor = c.Emit("Floor", {c.Emit("Add", {size, c.Scalar(0.5)})});
  c.Return(c.Emit("Mul", {c.Emit("Sign", {c.input(kData)}), floor}));
  return absl::OkStatus();
});
// Halves down: ceil(x - 1/2).
const OnnxRegistrar kRint({"rint"}, "Sub, Ceil", [](NodeExport& c) {
  c.Return(c.Emit("Ceil", {c.Emit("Sub", {c.input(kData), c.Scalar(0.5)})}));
  return absl::OkStatus();
});

// The logarithm divided by that of the base.
std::string Logarithm(NodeExport& c, double base) {
  return c.Emit("Div", {c.Emit("Log", {c.input(kData)}), c.Scalar(std::log(base))});
}
const OnnxRegistrar kLog2({"log2"}, "Log, Div", [](NodeExport& c) {
  c.Return(Logarithm(c, 2));
  return absl::OkStatus();
});
const OnnxRegistrar kLog10({"log10"}, "Log, Div", [](NodeExport& c) {
  c.Return(Logarithm(c, 10));
  return absl::OkStatus();
});
const OnnxRegistrar kLog1p({"log1p"}, "Add, Log; small elements lose digits", [](NodeExport& c) {
  c.Return(c.Emit("Log", {c.Emit("Add", {c.input(kData), c.Scalar(1)})}));
  return absl::OkStatus();
});
const OnnxRegistrar kExpm1({"expm1"}, "Exp, Sub; small elements lose digits", [](NodeExport& c) {
  c.Return(c.Emit("Sub", {c.Emit("Exp", {c.input(kData)}), c.Scalar(1)}));
  return absl::OkStatus();
});

std::string Times(NodeExport& c, double factor) {
  return c.Emit("Mul", {c.input(kData), c.Scalar(factor)});
}
const OnnxRegistrar kDegrees({"degrees"}, "Mul", [](NodeExport& c) {
  c.Return(Times(c, 180 / M_PI));
  return absl::OkStatus();
});
const OnnxRegistrar kRadians({"radians"}, "Mul", [](NodeExport& c) {
  c.Return(Times(c, M_PI / 180));
  return absl::OkStatus();
});

absl::Status ExportDivSqrtDim(NodeExport& c) {
  const Extent& last = c.shape(kData).back();
  if (!last.is_number()) return c.Refuse("the last extent must be a number");
  c.Return(c.Emit("Div", {c.input(kData), c.Scalar(std::sqrt(last.number()))}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_div_sqrt_dim, "Div", ExportDivSqrtDim);

absl::Status ExportLogicalNot(NodeExport& c) {
  const std::string is_zero = c.Emit("Equal", {c.input(kData), c.graph().Scalar(0, c.type(kData))});
  c.Return(c.Cast(is_zero, DType::kBool, c.out_type()));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(logical_not, "Equal, Cast", ExportLogicalNot);

absl::Status ExportClip(NodeExport& c) {
  const auto& param = c.param<ClipParam>();
  c.Return(c.Emit("Clip", {c.input(kData), c.Scalar(param.a_min), c.Scalar(param.a_max)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(clip, "Clip", ExportClip);

absl::Status ExportHardSigmoid(NodeExport& c) {
  const auto& param = c.param<HardSigmoidParam>();
  c.Return(c.Emit(
      "HardSigmoid", {c.input(kData)},
      {{"alpha", static_cast<float>(param.alpha)}, {"beta", static_cast<float>(param.beta)}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(hard_sigmoid, "HardSigmoid", ExportHardSigmoid);

// (scalar x)^2 / 2 where |x| < 1 / scalar^2, else |x| - 1 / (2 scalar^2)
absl::Status ExportSmoothL1(NodeExport& c) {
  const double square = c.param<ScalarParam>().scalar * c.param<ScalarParam>().scalar;
  const std::string size = c.Emit("Abs", {c.input(kData)});
  const std::string parabola = c.Emit("Mul", {c.Emit("Mul", {size, size}), c.Scalar(square / 2)});
  const std::string line = c.Emit("Sub", {size, c.Scalar(0.5 / square)});
  const std::string small = c.Emit("Less", {size, c.Scalar(1 / square)});
  c.Return(c.Emit("Where", {small, parabola, line}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(smooth_l1, "Abs, Mul, Less, Where", ExportSmoothL1);

absl::Status ExportQuadratic(NodeExport& c) {
  const auto& param = c.param<QuadraticParam>();
  const std::string slope = c.Emit("Add", {Times(c, param.a), c.Scalar(param.b)});
  const std::string product = c.Emit("Mul", {slope, c.input(kData)});
  c.Return(c.Emit("Add", {product, c.Scalar(param.c)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_quadratic, "Mul, Add", ExportQuadratic);

// A conversion to an integer drops the fraction in both.
absl::Status ExportCast(NodeExport& c) {
  c.Return(c.Cast(c.input(kData), c.type(kData), c.out_type()));
  return absl::OkStatus();
}
const OnnxRegistrar kCast({"Cast", "amp_cast"}, "Cast", ExportCast);

absl::Status ExportMulticast(NodeExport& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    c.Return(i, c.Cast(c.input(i), c.type(i), c.out_type(i)));
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(amp_multicast, "Cast", ExportMulticast);

absl::Status ExportCopy(NodeExport& c) {
  c.Return(c.input(kData));
  return absl::OkStatus();
}
const OnnxRegistrar kCopy({"_copy", "_contrib_gradientmultiplier", "cast_storage", "BlockGrad",
                           "make_loss", "MakeLoss", "_identity_with_attr_like_rhs",
                           "IdentityAttachKLSparseReg"},
                          "nothing: the output is the input", ExportCopy);

}  // namespace
}  // namespace cooper
