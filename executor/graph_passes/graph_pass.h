#ifndef COOPER_EXECUTOR_GRAPH_PASSES_GRAPH_PASS_H_
#define COOPER_EXECUTOR_GRAPH_PASSES_GRAPH_PASS_H_

// Passes over the symbol, before its gradient is made: what they put in brings its own gradient
// with it. Passes over the program follow (executor/passes.h).

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "symbol/symbol.h"

namespace cooper {

// What a pass makes of a graph: another one that computes the same, to rounding, and has the same
// outputs in the same order. It has the same variables, if in another order.
struct GraphRewrite {
  Symbol symbol;
  // Nodes that were copied because of their inputs, and what they are copies of.
  absl::flat_hash_map<const Node*, const Node*> origin;
};

// Whether an operator, or the gradient of one, can be run where the graph will be bound. A pass
// puts in none that cannot.
using CanRunFn = std::function<bool(absl::string_view op)>;

}  // namespace cooper

#endif  // COOPER_EXECUTOR_GRAPH_PASSES_GRAPH_PASS_H_
