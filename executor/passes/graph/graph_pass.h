#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_

// The interface of graph passes. They rewrite the symbol before its gradient graph is built, so
// nodes that they insert must have gradients of their own, unless the graph has none. Program
// passes run later (executor/passes/program).

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A value that depends on constants only, which the program takes as an argument.
struct FoldedConstant {
  std::string name;   // the argument's, "transpose(fc1_weight)"; equal for equal values
  Symbol expression;  // computes the value; one output
  NodePtr variable;   // the argument
};

// The result of a pass: a graph that computes the same results, up to rounding, with the same
// outputs in the same order. It has the same variables, possibly in another order, and those of
// `folded`.
struct GraphRewrite {
  Symbol symbol;
  // Indexed by entry of the old graph: the entry of the new graph with the same value, shape and
  // dtype; null if there is none.
  std::vector<NodeEntry> entries;
  // Nodes that were copied because their inputs changed, with their originals. Some may be unused.
  std::vector<std::pair<NodePtr, const Node*>> copies;
  std::vector<FoldedConstant> folded;
};

// Returns whether an operator, or a gradient operator, has a kernel in the context of the graph.
// Passes insert only operators for which it does.
using CanRunFn = std::function<bool(absl::string_view op)>;

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_PASS_H_
