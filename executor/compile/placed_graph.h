#ifndef COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_

// The second stage of lowering: finds where each node of an inferred graph runs and which of its
// outputs must be computed. A program is then emitted from the result (lower.h).

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "executor/compile/compile_options.h"
#include "executor/compile/inferred_graph.h"
#include "executor/compile/placement.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/node.h"

namespace cooper {

// The outputs of a graph's nodes that must be computed.
class NeededEntries {
 public:
  NeededEntries() = default;
  // Marks the entries that `ends` depend on; empty ends are skipped. An entry that is read only for
  // its shape (Op::reads_shapes_alone), by nodes on its own context, is marked only if its node has
  // no other marked entry, so that the node runs. A node that runs and counts the shapes of its
  // outputs gives them out. `graph` is not owned and must outlive this.
  NeededEntries(const IndexedGraph& graph, absl::Span<const NodeEntry> ends,
                const Placement& placement);

  // Returns whether an entry is marked.
  bool Has(int entry) const { return needed_[entry]; }
  // Returns whether any output of node `i` is marked.
  bool HasNode(int i) const;

 private:
  const IndexedGraph* graph_ = nullptr;
  std::vector<bool> needed_;  // by entry
};

// The result of PlaceGraph.
struct PlacedGraph {
  Placement placement;
  NeededEntries needed;
  // Nodes whose outputs are read by no node, only by the caller, and which the gradient node also
  // computes. A training run skips these nodes.
  absl::flat_hash_set<const Node*> computed_by_gradient;
};

// Places the nodes by their `ctx_group`. With options.fallback, nodes without a kernel for their
// context are placed on cpu(0). `graph` must outlive the result.
PlacedGraph PlaceGraph(const InferredGraph& graph, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_
