#ifndef COOPER_SYMBOL_CONTROL_FOREACH_H_
#define COOPER_SYMBOL_CONTROL_FOREACH_H_

// A loop over the first axis of arrays, as mx.sym.contrib.foreach builds it: one node, _foreach,
// whose body is a graph. The number of steps is the extent of that axis, so one symbol serves every
// length.
//
//   // Running sums of data (T, N): the state is the sum so far.
//   ForeachResult sums = Foreach(
//       [](const std::vector<Symbol>& data, const std::vector<Symbol>& states) {
//         const Symbol sum = op::elemwise_add(data[0], states[0]);
//         return ForeachStep{.outputs = {sum}, .states = {sum}};
//       },
//       {Symbol::Variable("data")}, {Symbol::Variable("begin")});
//   sums.outputs[0];  // (T, N)
//   sums.states[0];   // (N,)
//
// An executor unrolls the loop when the program is compiled for given shapes: its speed and its
// memory are those of the network that is unrolled by hand.
//
// MXNet: python/mxnet/symbol/contrib.py.

#include <functional>
#include <string>
#include <vector>

#include "symbol/graph/symbol.h"

namespace cooper {

// The result of one step: values that are stacked over the steps, and the states for the next step,
// as many as the loop has, each of the shape and dtype of the state before.
struct ForeachStep {
  std::vector<Symbol> outputs;
  std::vector<Symbol> states;
};

// Builds one step from the data of the step, without the first axis, and the states. May use any
// other symbol; such a value is the same in every step. It is called once.
using ForeachBodyFn =
    std::function<ForeachStep(const std::vector<Symbol>& data, const std::vector<Symbol>& states)>;

// Outputs (T, ...) for each output of a step, and the states after the last step.
struct ForeachResult {
  std::vector<Symbol> outputs;
  std::vector<Symbol> states;
};

// Builds a loop over `data`, at least one array (T, ...), all of one extent T >= 1. A step of a
// vector has shape (1,).
// `states` are the states before the first step. An empty name is an automatic one, "foreach0".
//
// The symbols keep an error, like those of the functions of symbol/op: kInvalidArgument if there is
// no data, if the body does not read a part of it or a state, if it returns another number of
// states than there are, or nothing at all, or if an input has other than one output; else the
// first error of an input or of the body. The result then has one symbol in each list, whose
// status() is the error.
ForeachResult Foreach(const ForeachBodyFn& body, const std::vector<Symbol>& data,
                      const std::vector<Symbol>& states, const std::string& name = "");

}  // namespace cooper

#endif  // COOPER_SYMBOL_CONTROL_FOREACH_H_
