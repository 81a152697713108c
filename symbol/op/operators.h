#ifndef COOPER_SYMBOL_OP_OPERATORS_H_
#define COOPER_SYMBOL_OP_OPERATORS_H_

// Networks as expressions: + - * / % and comparisons between symbols of one shape, and between
// symbols and numbers, as Python's operators on MXNet's symbols; parts and groups. The functions of
// symbol/op/*.h, one for each operator, include this.
//
//   #include "symbol/op/nn.h"
//
//   const Symbol x = Symbol::Variable("data");
//   const Symbol h = op::Activation(op::FullyConnected(x, {.num_hidden = 64, .name = "fc1"}),
//                                   {.act_type = "relu"});
//   const Symbol mask = Symbol::Variable("label") != 0;
//   return op::Group({h * 0.5 + 1, mask});
//
// What goes wrong is told once, by whatever takes the finished network: the result is then a symbol
// that keeps the error, as is everything made from it (symbol.h). Shapes that do not fit are found
// where all shapes are, by InferShape or binding.
//
// Of such a function, inputs that an operator always needs come first, by position. Those that
// become variables when left out ("fc1_weight"), or that only some attributes ask for, are options,
// as are attributes, in the order of the operator's declaration; then come `name` and `attrs`. An
// attribute that has its default is not written into the node. The functions are called as the
// operators are, without the underscore that hides a name: op::zeros is _zeros; and with a
// namespace for a prefix: op::contrib::quadratic is _contrib_quadratic.

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Of two symbols of one shape; op::broadcast_add and its kin take others. Automatic names are
// MXNet's: "_plus0".
Symbol operator+(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a, const Symbol& b);
Symbol operator*(const Symbol& a, const Symbol& b);
Symbol operator/(const Symbol& a, const Symbol& b);
Symbol operator%(const Symbol& a, const Symbol& b);  // with the sign of b

// Of each element and a number: "_plusscalar0".
Symbol operator+(const Symbol& a, double b);
Symbol operator-(const Symbol& a, double b);
Symbol operator*(const Symbol& a, double b);
Symbol operator/(const Symbol& a, double b);
Symbol operator%(const Symbol& a, double b);
Symbol operator+(double a, const Symbol& b);
Symbol operator-(double a, const Symbol& b);
Symbol operator*(double a, const Symbol& b);
Symbol operator/(double a, const Symbol& b);
Symbol operator%(double a, const Symbol& b);

Symbol operator-(const Symbol& a);  // a * -1, as in MXNet

// 1 where it holds, else 0, in the dtype of the symbol: masks, not answers of this program.
Symbol operator==(const Symbol& a, const Symbol& b);
Symbol operator!=(const Symbol& a, const Symbol& b);
Symbol operator<(const Symbol& a, const Symbol& b);
Symbol operator<=(const Symbol& a, const Symbol& b);
Symbol operator>(const Symbol& a, const Symbol& b);
Symbol operator>=(const Symbol& a, const Symbol& b);
Symbol operator==(const Symbol& a, double b);
Symbol operator!=(const Symbol& a, double b);
Symbol operator<(const Symbol& a, double b);
Symbol operator<=(const Symbol& a, double b);
Symbol operator>(const Symbol& a, double b);
Symbol operator>=(const Symbol& a, double b);
Symbol operator==(double a, const Symbol& b);
Symbol operator!=(double a, const Symbol& b);
Symbol operator<(double a, const Symbol& b);
Symbol operator<=(double a, const Symbol& b);
Symbol operator>(double a, const Symbol& b);
Symbol operator>=(double a, const Symbol& b);

namespace op {

// Indices [begin, end) of one axis, to its end without `end`; negative ones count from the end.
Symbol Slice(const Symbol& data, int axis, int64_t begin, std::optional<int64_t> end = {});

// All outputs of all symbols, in order. As Symbol::Group, but the error is kept.
Symbol Group(absl::Span<const Symbol> symbols);

}  // namespace op
}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_OPERATORS_H_
