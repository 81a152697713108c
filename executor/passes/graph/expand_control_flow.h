#ifndef COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_CONTROL_FLOW_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_CONTROL_FLOW_H_

// Replaces control flow by the graphs that it holds. The shapes of a program are known before it is
// compiled, so loops become steps:
//
//   _foreach      one copy of its body for each index of the first axis of its data
//   _while_loop   max_iterations copies of its body, each under the condition that the loop still
//                 runs
//   _cond         both branches, each under the condition
//
// A copy under a condition reads its inputs through _guard, and _select or _keep_if choose among
// its outputs (symbol/ops/control/select.cc). The copies take part in everything that other nodes
// take part in: gradients, one memory plan, recognition of recurrent layers. On a CPU a copy whose
// condition is false does not run (executor/passes/program/conditions.cc); on a GPU it runs and is
// not chosen.

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns whether the node is a loop or a choice. Fused layers hold graphs too, but are not.
bool IsControlFlow(const Node& node);

// Returns the graph with the control flow of `facts` replaced, nullopt if it has none. Control flow
// inside a body remains: the caller infers the shapes of the result and calls again. A copy of node
// "fc" for step 3 is called "fc_t3". O(steps x nodes of the body) time and memory.
//
// Fails, naming the node, with kInvalidArgument if a _foreach has no step; with kResourceExhausted
// if a loop has more than 2^16 steps or the result more than 2^22 nodes; and with kUnimplemented if
// `all_run`, which says that the device runs what is not chosen, and a graph under a condition has
// auxiliary states, which it would change.
//
// This is no optional pass, since there is no kernel that runs control flow.
absl::StatusOr<std::optional<GraphRewrite>> ExpandControlFlow(const GraphFacts& facts,
                                                              bool all_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_EXPAND_CONTROL_FLOW_H_
