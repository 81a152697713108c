#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_

// The input of graph passes: a numbered graph with the shapes, dtypes and users of its entries.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Immutable. References returned by accessors live as long as the object. Thread-safe. Made once
// for each pass: a pass that has changed the graph needs new facts. All accessors take constant
// time.
class GraphFacts {
 public:
  // Input `input` of node `node`.
  struct Use {
    int node = -1;
    int input = -1;
  };

  // `shapes` and `types` are indexed by entry of the graph of `symbol`. `constants` are names of
  // variables.
  GraphFacts(const Symbol& symbol, std::vector<Shape> shapes, std::vector<DType> types,
             bool has_gradients = true, const std::set<std::string>& constants = {});

  // Nodes are identified by their position in graph().nodes(), inputs before users.
  const Symbol& symbol() const { return symbol_; }
  const IndexedGraph& graph() const { return graph_; }
  const Node& node(int i) const { return *graph_.nodes()[i]; }
  const NodePtr& owner(int i) const { return owners_[i]; }
  // Return the position of an entry's node, and the shape and dtype of the entry. The entry must be
  // of this graph.
  int index(const NodeEntry& e) const { return graph_.node_index(e.node.get()); }
  const Shape& shape(const NodeEntry& e) const { return shapes_[graph_.entry(e)]; }
  DType type(const NodeEntry& e) const { return types_[graph_.entry(e)]; }

  // Returns the node inputs that read an entry, ordered by node.
  absl::Span<const Use> uses(const NodeEntry& e) const { return uses_of(index(e), e.index); }
  absl::Span<const Use> uses_of(int node, int output) const;
  // Returns whether gradients will be computed. A graph without gradients may still be run in
  // training mode.
  bool has_gradients() const { return has_gradients_; }
  // Returns whether the entry is an output of the graph.
  bool is_output(const NodeEntry& e) const { return is_output_[graph_.entry(e)]; }
  // Returns whether a value depends on constants only, or is one.
  bool is_constant(const NodeEntry& e) const { return is_constant_[index(e)]; }
  // Returns whether no node reads the entry and it is no output of the graph.
  bool is_unused(const NodeEntry& e) const { return uses(e).empty() && !is_output(e); }

 private:
  Symbol symbol_;
  IndexedGraph graph_;
  std::vector<NodePtr> owners_;  // by node
  std::vector<Shape> shapes_;
  std::vector<DType> types_;
  std::vector<int> use_begin_;  // by entry, in uses_, with one more at the end
  std::vector<Use> uses_;
  std::vector<bool> is_output_;
  std::vector<bool> is_constant_;  // by node
  bool has_gradients_;
};

// Returns the node in whose memory an entry may lie, following operators that may become views of
// their first input.
const Node* MemoryOf(const NodeEntry& entry);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_
