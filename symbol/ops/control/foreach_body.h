#ifndef COOPER_SYMBOL_OPS_CONTROL_FOREACH_BODY_H_
#define COOPER_SYMBOL_OPS_CONTROL_FOREACH_BODY_H_

// The body of a _foreach call: which of its variables stand for which inputs of the call. For the
// rules of the schema, and for the pass that unrolls the loop.

#include <vector>

#include "absl/status/status.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/ops/control/foreach_param.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// Refers to the call, which must outlive it. Immutable, so thread-safe.
class ForeachBody {
 public:
  // The call must have passed Check. O(nodes of the body) time.
  explicit ForeachBody(const OpCall& call);

  // Fails with kInvalidArgument unless the lists of positions name each variable of the body once,
  // there is data, and the numbers of inputs and outputs fit them. Requires one subgraph.
  static absl::Status Check(const OpCall& call);

  const ForeachParam& param() const { return call_.param<ForeachParam>(); }
  const IndexedGraph& graph() const { return graph_; }
  // The outputs of the body: values of the step, then states.
  const std::vector<NodeEntry>& outputs() const { return call_.subgraphs->front(); }
  // Returns the number, in graph().nodes(), of the variable that stands for input `i` of the call.
  int variable(int i) const { return variables_[i]; }
  // Returns the entry of graph() of that variable.
  int input_entry(int i) const { return graph_.first_entry(variables_[i]); }

 private:
  const OpCall& call_;
  IndexedGraph graph_;
  std::vector<int> variables_;  // by input of the call
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_FOREACH_BODY_H_
