#ifndef COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_NUMPY_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_NUMPY_H_

// Replaces NumPy operators that other operators can express, for which there are no kernels
// (symbol/ops/numpy/composed.cc, random.cc). They then run on every device and have gradients.

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns whether ExpandNumpy replaces the node.
bool IsComposed(const Node& node);

// Returns the graph with the nodes replaced; nullopt if there is none. Shapes are built into the
// result, so none may depend on values (executor/compile/counted_entries.h).
//
// Errors: kUnimplemented, naming the variable, if it is read only for outputs of such a node that
// nobody reads; kResourceExhausted, naming the node, if it would be more than kMaxSteps nodes, as
// are a difference of a high order and a polynomial of many coefficients.
absl::StatusOr<std::optional<GraphRewrite>> ExpandNumpy(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_NUMPY_H_
