#ifndef COOPER_EXECUTOR_PASSES_GRAPH_UNROLL_FOREACH_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_UNROLL_FOREACH_H_

// Replaces loops by their steps: a _foreach node (symbol/ops/control/foreach.cc) becomes one copy
// of its body for each index of the first axis of its data. The shapes of a program are known
// before it is compiled, so is the number of steps. The steps take part in everything that unrolled
// networks take part in: gradients, one memory plan, recognition of recurrent layers.

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Returns the graph with every loop of `facts` unrolled, nullopt if it has none. Loops inside a
// body remain: the caller infers the shapes of the result and calls again. A copy of node "fc" for
// step 3 is called "fc_t3". O(steps x nodes of the body) time and memory. Fails, naming the loop,
// with kInvalidArgument if it has no step, and with kResourceExhausted if it has more than 2^16
// steps or the result more than 2^22 nodes.
//
// This is no optional pass, since there is no kernel that runs a loop.
absl::StatusOr<std::optional<GraphRewrite>> UnrollForeach(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_UNROLL_FOREACH_H_
