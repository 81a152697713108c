#ifndef COOPER_SYMBOL_OP_OPERATORS_H_
#define COOPER_SYMBOL_OP_OPERATORS_H_

// Operators for networks as expressions: + - * / % and comparisons between symbols of one shape,
// and between symbols and numbers, as Python's operators on MXNet's symbols; slices and groups. The
// headers symbol/op/*.h, with a function for each operator, include this one.
//
//   #include "symbol/op/nn.h"
//
//   const Symbol x = Symbol::Variable("data");
//   const Symbol h = op::Activation(op::FullyConnected(x, {.num_hidden = 64, .name = "fc1"}),
//                                   {.act_type = "relu"});
//   const Symbol mask = Symbol::Variable("label") != 0;
//   return op::Group({h * 0.5 + 1, mask});
//
// Errors are reported once, by the function that takes the finished network: until then the result
// is a symbol that keeps the error, as is every symbol built from it (symbol.h). Shape errors are
// found when shapes are inferred, by InferShape or binding.
//
// The functions of operators take the inputs that are always there by position. Inputs that become
// variables when left out ("fc1_weight"), or that only some attributes enable, are options, as are
// attributes, in the order of the operator's declaration, followed by `name` and `attrs`. An
// attribute at its default is not written into the node. A function has its operator's name,
// without the underscore of hidden names: op::zeros is _zeros; prefixes become namespaces:
// op::contrib::quadratic is _contrib_quadratic.

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Elementwise operators on two symbols of one shape; op::broadcast_add and its relatives broadcast.
// Automatic names are MXNet's: "_plus0".
Symbol operator+(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a, const Symbol& b);
Symbol operator*(const Symbol& a, const Symbol& b);
Symbol operator/(const Symbol& a, const Symbol& b);
Symbol operator%(const Symbol& a, const Symbol& b);  // with the sign of b

// Operators between each element and a number. Automatic names: "_plusscalar0".
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

// Comparisons give masks: 1 where the comparison holds, else 0, in the dtype of the symbol.
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

// Returns indices [begin, end) of one axis, up to its end without `end`; negative indices count
// from the end.
Symbol Slice(const Symbol& data, int axis, int64_t begin, std::optional<int64_t> end = {});

// Returns all outputs of all symbols, in order, as Symbol::Group does. On an error the result is a
// symbol that keeps it.
Symbol Group(absl::Span<const Symbol> symbols);

}  // namespace op
}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_OPERATORS_H_
