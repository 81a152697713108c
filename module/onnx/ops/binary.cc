// Functions of two arrays, or of an array and a number, element by element.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "module/onnx/node_export.h"
#include "symbol/ops/elemwise/scalar_param.h"

namespace cooper {
namespace {

// Writes a function of two values; `type` is the dtype of both.
using Function = std::string (*)(NodeExport& c, const std::string& a, const std::string& b,
                                 DType type);

template <const char* kOnnxOp>
std::string Apply(NodeExport& c, const std::string& a, const std::string& b, DType) {
  return c.Emit(kOnnxOp, {a, b});
}

// ONNX's results are bool, cooper's have the dtype of its operators.
template <const char* kOnnxOp>
std::string Compare(NodeExport& c, const std::string& a, const std::string& b, DType) {
  return c.Cast(c.Emit(kOnnxOp, {a, b}), DType::kBool, c.out_type());
}

std::string NotEqual(NodeExport& c, const std::string& a, const std::string& b, DType) {
  return c.Cast(c.Emit("Not", {c.Emit("Equal", {a, b})}), DType::kBool, c.out_type());
}

// Applies an operator on truth values to whether a and b are not 0.
template <const char* kOnnxOp>
std::string Logical(NodeExport& c, const std::string& a, const std::string& b, DType type) {
  const std::string truth =
      c.Emit(kOnnxOp, {c.Cast(a, type, DType::kBool), c.Cast(b, type, DType::kBool)});
  return c.Cast(truth, DType::kBool, c.out_type());
}

// The remainder with the sign of the divisor, a - b floor(a / b), and 0 where b is 0.
std::string Mod(NodeExport& c, const std::string& a, const std::string& b, DType type) {
  const std::string zero = c.graph().Scalar(0, type), one = c.graph().Scalar(1, type);
  const std::string is_zero = c.Emit("Equal", {b, zero});
  const std::string divisor = c.Emit("Where", {is_zero, one, b});
  std::string rest;
  if (IsFloating(type)) {
    const std::string quotient = c.Emit("Floor", {c.Emit("Div", {a, divisor})});
    rest = c.Emit("Sub", {a, c.Emit("Mul", {quotient, divisor})});
  } else {
    rest = c.Emit("Mod", {a, divisor});
  }
  return c.Emit("Where", {is_zero, zero, rest});
}

std::string Hypot(NodeExport& c, const std::string& a, const std::string& b, DType) {
  const std::string sum = c.Emit("Add", {c.Emit("Mul", {a, a}), c.Emit("Mul", {b, b})});
  return c.Emit("Sqrt", {sum});
}

constexpr char kAdd[] = "Add", kSub[] = "Sub", kMul[] = "Mul", kDiv[] = "Div", kPow[] = "Pow",
               kMax[] = "Max", kMin[] = "Min", kEqual[] = "Equal", kGreater[] = "Greater",
               kGreaterOrEqual[] = "GreaterOrEqual", kLess[] = "Less",
               kLessOrEqual[] = "LessOrEqual", kAnd[] = "And", kOr[] = "Or", kXor[] = "Xor";

// Exports an operator on two arrays. ONNX broadcasts as cooper does, aligned at the last axes.
template <Function kFunction>
absl::Status Binary(NodeExport& c) {
  c.Return(kFunction(c, c.input(0), c.input(1), c.type(0)));
  return absl::OkStatus();
}

// Exports an operator on an array and a number, which is the first operand if `kReverse`.
template <Function kFunction, bool kReverse>
absl::Status WithScalar(NodeExport& c) {
  std::string a = c.input(0), b = c.graph().Scalar(c.param<ScalarParam>().scalar, c.type(0));
  if (kReverse) std::swap(a, b);
  c.Return(kFunction(c, a, b, c.type(0)));
  return absl::OkStatus();
}

// Registers the elementwise and broadcasting operators and that with a number.
#define COOPER_ONNX_BINARY(elemwise, broadcast, scalar, text, ...)                           \
  const OnnxRegistrar kBinary##broadcast({elemwise, #broadcast}, text, Binary<__VA_ARGS__>); \
  const OnnxRegistrar kScalar##broadcast({scalar}, text, WithScalar<__VA_ARGS__, false>)

COOPER_ONNX_BINARY("elemwise_add", broadcast_add, "_plus_scalar", "Add", Apply<kAdd>);
COOPER_ONNX_BINARY("elemwise_sub", broadcast_sub, "_minus_scalar", "Sub", Apply<kSub>);
COOPER_ONNX_BINARY("elemwise_mul", broadcast_mul, "_mul_scalar", "Mul", Apply<kMul>);
COOPER_ONNX_BINARY("elemwise_div", broadcast_div, "_div_scalar", "Div", Apply<kDiv>);
COOPER_ONNX_BINARY("_power", broadcast_power, "_power_scalar", "Pow", Apply<kPow>);
COOPER_ONNX_BINARY("_maximum", broadcast_maximum, "_maximum_scalar", "Max", Apply<kMax>);
COOPER_ONNX_BINARY("_minimum", broadcast_minimum, "_minimum_scalar", "Min", Apply<kMin>);
COOPER_ONNX_BINARY("_mod", broadcast_mod, "_mod_scalar", "Div, Floor, Mul, Sub, or Mod", Mod);
COOPER_ONNX_BINARY("_hypot", broadcast_hypot, "_hypot_scalar", "Mul, Add, Sqrt", Hypot);
COOPER_ONNX_BINARY("_equal", broadcast_equal, "_equal_scalar", "Equal, Cast", Compare<kEqual>);
COOPER_ONNX_BINARY("_not_equal", broadcast_not_equal, "_not_equal_scalar", "Equal, Not, Cast",
                   NotEqual);
COOPER_ONNX_BINARY("_greater", broadcast_greater, "_greater_scalar", "Greater, Cast",
                   Compare<kGreater>);
COOPER_ONNX_BINARY("_greater_equal", broadcast_greater_equal, "_greater_equal_scalar",
                   "GreaterOrEqual, Cast", Compare<kGreaterOrEqual>);
COOPER_ONNX_BINARY("_lesser", broadcast_lesser, "_lesser_scalar", "Less, Cast", Compare<kLess>);
COOPER_ONNX_BINARY("_lesser_equal", broadcast_lesser_equal, "_lesser_equal_scalar",
                   "LessOrEqual, Cast", Compare<kLessOrEqual>);
COOPER_ONNX_BINARY("_logical_and", broadcast_logical_and, "_logical_and_scalar", "And, Cast",
                   Logical<kAnd>);
COOPER_ONNX_BINARY("_logical_or", broadcast_logical_or, "_logical_or_scalar", "Or, Cast",
                   Logical<kOr>);
COOPER_ONNX_BINARY("_logical_xor", broadcast_logical_xor, "_logical_xor_scalar", "Xor, Cast",
                   Logical<kXor>);

const OnnxRegistrar kRminus({"_rminus_scalar"}, "Sub", WithScalar<Apply<kSub>, true>);
const OnnxRegistrar kRdiv({"_rdiv_scalar"}, "Div", WithScalar<Apply<kDiv>, true>);
const OnnxRegistrar kRpower({"_rpower_scalar"}, "Pow", WithScalar<Apply<kPow>, true>);
const OnnxRegistrar kRmod({"_rmod_scalar"}, "Div, Floor, Mul, Sub, or Mod", WithScalar<Mod, true>);

const OnnxRegistrar kScatterDiv({"_scatter_elemwise_div"}, "Div", Binary<Apply<kDiv>>);
const OnnxRegistrar kGradAdd({"_grad_add"}, "Add", Binary<Apply<kAdd>>);
const OnnxRegistrar kScatterPlus({"_scatter_plus_scalar"}, "Add", WithScalar<Apply<kAdd>, false>);
const OnnxRegistrar kScatterMinus({"_scatter_minus_scalar"}, "Sub", WithScalar<Apply<kSub>, false>);

absl::Status ExportAddN(NodeExport& c) {
  c.Return(c.Emit("Sum", c.inputs()));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(add_n, "Sum", ExportAddN);

// The condition has the shape of x, or is a vector with an element for each row of x.
absl::Status ExportWhere(NodeExport& c) {
  std::string condition = c.Cast(c.input(0), c.type(0), DType::kBool);
  std::vector<int64_t> behind;
  for (int i = c.rank(0); i < c.rank(1); ++i) behind.push_back(i);
  if (!behind.empty()) condition = c.Unsqueeze(condition, behind);
  c.Return(c.Emit("Where", {condition, c.input(1), c.input(2)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(where, "Cast, Where", ExportWhere);

}  // namespace
}  // namespace cooper
