#ifndef COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_

// The second stage of lowering: where each node of an inferred graph runs, and what it has to
// compute. A program is emitted from that (lower.h).

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "executor/compile/compile_options.h"
#include "executor/compile/inferred_graph.h"
#include "executor/compile/placement.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/node.h"

namespace cooper {

// Which outputs of a graph's nodes have to be computed.
class NeededEntries {
 public:
  NeededEntries() = default;
  // Marks the entries that `ends` depend on; empty ends are skipped. An entry that is read only for
  // its shape (Op::reads_shapes_alone), by nodes on its own context, is marked only if its node has
  // no other marked entry, so that the node runs. `graph` is not owned and must outlive this.
  NeededEntries(const IndexedGraph& graph, absl::Span<const NodeEntry> ends,
                const Placement& placement);

  bool Has(int entry) const { return needed_[entry]; }
  // Whether any output of the node of this index.
  bool HasNode(int i) const;

 private:
  const IndexedGraph* graph_ = nullptr;
  std::vector<bool> needed_;  // by entry
};

struct PlacedGraph {
  Placement placement;
  NeededEntries needed;
  // Nodes whose gradient computes their outputs, which only the caller reads besides.
  absl::flat_hash_set<const Node*> computed_by_gradient;
};

// The value that says how many rows an output of a graph has; empty if all are there.
NodeEntry RowCountOf(const NodeEntry& output);

// Places the nodes by their `ctx_group`; with options.fallback, those without a kernel for their
// context on cpu(0). `graph` must outlive the result.
PlacedGraph PlaceGraph(const InferredGraph& graph, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PLACED_GRAPH_H_
