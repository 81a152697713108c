#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_

// Passes over the symbol, before its gradient is made: what they put in brings its own gradient
// with it. Passes over the program follow (executor/passes.h).

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A value that follows from constants alone. In its place the program has an argument.
struct FoldedConstant {
  std::string name;  // of the argument: what it is, "transpose(fc1_weight)"; equal for equal values
  Symbol expression;  // the value, of one output
  NodePtr variable;   // the argument
};

// What a pass makes of a graph: another one that computes the same, to rounding, and has the same
// outputs in the same order. It has the same variables, if in another order, and those of `folded`.
struct GraphRewrite {
  Symbol symbol;
  // By entry of the old graph: what has its value in the new one, of the same shape and dtype. Null
  // where nothing has.
  std::vector<NodeEntry> entries;
  // Nodes that were copied because of their inputs, and what they are copies of. Some may have
  // become of no use.
  std::vector<std::pair<NodePtr, const Node*>> copies;
  std::vector<FoldedConstant> folded;
};

// Whether an operator, or the gradient of one, can be run where the graph will be bound. A pass
// puts in none that cannot.
using CanRunFn = std::function<bool(absl::string_view op)>;

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_
