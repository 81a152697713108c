#include "symbol/op/operators.h"

#include <string>

#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

Symbol Make(const char* op, const OpArgs& args) { return Symbol::Keep(Symbol::Create(op, args)); }

Symbol Binary(const char* op, const Symbol& a, const Symbol& b) {
  return Make(op, {.inputs = {a, b}});
}

Symbol Scalar(const char* op, const Symbol& a, double scalar) {
  return Make(op, {.inputs = {a}, .attrs = {{"scalar", PrintParamText(scalar)}}});
}

}  // namespace

// Uses the aliases that MXNet's Python calls, since automatic names are derived from them.

Symbol operator+(const Symbol& a, const Symbol& b) { return Binary("_Plus", a, b); }
Symbol operator-(const Symbol& a, const Symbol& b) { return Binary("_Minus", a, b); }
Symbol operator*(const Symbol& a, const Symbol& b) { return Binary("_Mul", a, b); }
Symbol operator/(const Symbol& a, const Symbol& b) { return Binary("_Div", a, b); }
Symbol operator%(const Symbol& a, const Symbol& b) { return Binary("_Mod", a, b); }
Symbol operator+(const Symbol& a, double b) { return Scalar("_PlusScalar", a, b); }
Symbol operator-(const Symbol& a, double b) { return Scalar("_MinusScalar", a, b); }
Symbol operator*(const Symbol& a, double b) { return Scalar("_MulScalar", a, b); }
Symbol operator/(const Symbol& a, double b) { return Scalar("_DivScalar", a, b); }
Symbol operator%(const Symbol& a, double b) { return Scalar("_ModScalar", a, b); }
Symbol operator+(double a, const Symbol& b) { return Scalar("_PlusScalar", b, a); }
Symbol operator-(double a, const Symbol& b) { return Scalar("_RMinusScalar", b, a); }
Symbol operator*(double a, const Symbol& b) { return Scalar("_MulScalar", b, a); }
Symbol operator/(double a, const Symbol& b) { return Scalar("_RDivScalar", b, a); }
Symbol operator%(double a, const Symbol& b) { return Scalar("_RModScalar", b, a); }

Symbol operator-(const Symbol& a) { return Scalar("_MulScalar", a, -1); }

Symbol operator==(const Symbol& a, const Symbol& b) { return Binary("_equal", a, b); }
Symbol operator!=(const Symbol& a, const Symbol& b) { return Binary("_not_equal", a, b); }
Symbol operator<(const Symbol& a, const Symbol& b) { return Binary("_lesser", a, b); }
Symbol operator<=(const Symbol& a, const Symbol& b) { return Binary("_lesser_equal", a, b); }
Symbol operator>(const Symbol& a, const Symbol& b) { return Binary("_greater", a, b); }
Symbol operator>=(const Symbol& a, const Symbol& b) { return Binary("_greater_equal", a, b); }
Symbol operator==(const Symbol& a, double b) { return Scalar("_equal_scalar", a, b); }
Symbol operator!=(const Symbol& a, double b) { return Scalar("_not_equal_scalar", a, b); }
Symbol operator<(const Symbol& a, double b) { return Scalar("_lesser_scalar", a, b); }
Symbol operator<=(const Symbol& a, double b) { return Scalar("_lesser_equal_scalar", a, b); }
Symbol operator>(const Symbol& a, double b) { return Scalar("_greater_scalar", a, b); }
Symbol operator>=(const Symbol& a, double b) { return Scalar("_greater_equal_scalar", a, b); }
Symbol operator==(double a, const Symbol& b) { return Scalar("_equal_scalar", b, a); }
Symbol operator!=(double a, const Symbol& b) { return Scalar("_not_equal_scalar", b, a); }
Symbol operator<(double a, const Symbol& b) { return Scalar("_greater_scalar", b, a); }
Symbol operator<=(double a, const Symbol& b) { return Scalar("_greater_equal_scalar", b, a); }
Symbol operator>(double a, const Symbol& b) { return Scalar("_lesser_scalar", b, a); }
Symbol operator>=(double a, const Symbol& b) { return Scalar("_lesser_equal_scalar", b, a); }

namespace op {

Symbol Slice(const Symbol& data, int axis, int64_t begin, std::optional<int64_t> end) {
  return Make("slice_axis", {.inputs = {data},
                             .attrs = {{"axis", PrintParamText(axis)},
                                       {"begin", PrintParamText(begin)},
                                       {"end", PrintParamText(end)}}});
}

Symbol Group(absl::Span<const Symbol> symbols) { return Symbol::Keep(Symbol::Group(symbols)); }

}  // namespace op
}  // namespace cooper
