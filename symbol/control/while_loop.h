#ifndef COOPER_SYMBOL_CONTROL_WHILE_LOOP_H_
#define COOPER_SYMBOL_CONTROL_WHILE_LOOP_H_

// A loop that runs while a condition holds, as mx.sym.contrib.while_loop builds it: one node,
// _while_loop, that holds the condition and the body.
//
//   // Halves x until its sum is below 1, at most 20 times.
//   WhileLoopResult halved = WhileLoop(
//       [](const std::vector<Symbol>& vars) { return op::sum(vars[0]) >= 1; },
//       [](const std::vector<Symbol>& vars) {
//         const Symbol half = vars[0] * 0.5;
//         return WhileLoopStep{.outputs = {half}, .vars = {half}};
//       },
//       {Symbol::Variable("x")}, /*max_iterations=*/20);
//   halved.outputs[0];  // (20, ...): the values of the steps, then rows of zeros
//   halved.vars[0];     // x after the last step
//
// An executor compiles max_iterations steps: memory for training is that of so many, whatever the
// condition says. On a CPU the steps after the last one do not run, forward or backward; on a GPU
// all do.
//
// MXNet: python/mxnet/symbol/contrib.py.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symbol/graph/symbol.h"

namespace cooper {

// The result of one step: values that are stacked over the steps, and the loop variables for the
// next step, as many as the loop has, each of the shape and dtype of the variable before.
struct WhileLoopStep {
  std::vector<Symbol> outputs;
  std::vector<Symbol> vars;
};

// Build the condition, one number that is other than 0 while the loop runs, and one step, from the
// loop variables. May use any other symbol. They are called once.
using WhileLoopConditionFn = std::function<Symbol(const std::vector<Symbol>& vars)>;
using WhileLoopBodyFn = std::function<WhileLoopStep(const std::vector<Symbol>& vars)>;

// Outputs (max_iterations, ...) for each output of a step, with zeros in the rows of steps that did
// not run, and the loop variables after the last step.
struct WhileLoopResult {
  std::vector<Symbol> outputs;
  std::vector<Symbol> vars;
};

// Builds a loop over `vars`, the variables before the first step, at least one. No gradient passes
// to the condition. More than 65,536 iterations fail when a program is compiled
// (kResourceExhausted). An empty name is an automatic one, "while_loop0".
//
// The symbols keep an error, like those of the functions of symbol/op: kInvalidArgument if there
// are no loop variables or max_iterations < 1, if the body does not read one of them or returns
// another number, or if a symbol has other than one output; else the first error of an input, the
// condition or the body. The result then has one symbol in each list, whose status() is the error.
WhileLoopResult WhileLoop(const WhileLoopConditionFn& condition, const WhileLoopBodyFn& body,
                          const std::vector<Symbol>& vars, int64_t max_iterations,
                          const std::string& name = "");

}  // namespace cooper

#endif  // COOPER_SYMBOL_CONTROL_WHILE_LOOP_H_
