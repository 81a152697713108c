#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_

// What graph passes look at: a numbered graph with the shapes and dtypes of its entries, and who
// uses what.

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

class GraphFacts {
 public:
  struct Use {
    int node = -1;
    int input = -1;
  };

  // Shapes and dtypes are by entry of the graph that `symbol` has; `constants` are names of
  // variables.
  GraphFacts(const Symbol& symbol, std::vector<Shape> shapes, std::vector<DType> types,
             bool has_gradients = true, const std::set<std::string>& constants = {});

  const Symbol& symbol() const { return symbol_; }
  const IndexedGraph& graph() const { return graph_; }
  const Node& node(int i) const { return *graph_.nodes()[i]; }
  const NodePtr& owner(int i) const { return owners_[i]; }
  int index(const NodeEntry& e) const { return graph_.node_index(e.node.get()); }
  const Shape& shape(const NodeEntry& e) const { return shapes_[graph_.entry(e)]; }
  DType type(const NodeEntry& e) const { return types_[graph_.entry(e)]; }

  // The inputs of nodes that an entry is, in the order of nodes.
  absl::Span<const Use> uses(const NodeEntry& e) const { return uses_of(index(e), e.index); }
  absl::Span<const Use> uses_of(int node, int output) const;
  // Whether gradients will be computed; if not, the graph may be run for training nevertheless.
  bool has_gradients() const { return has_gradients_; }
  bool is_output(const NodeEntry& e) const { return is_output_[graph_.entry(e)]; }
  // Whether a value follows from constants alone, of which it is one or which it is computed from.
  bool is_constant(const NodeEntry& e) const { return is_constant_[index(e)]; }
  bool is_unused(const NodeEntry& e) const { return uses(e).empty() && !is_output(e); }

 private:
  Symbol symbol_;
  IndexedGraph graph_;
  std::vector<NodePtr> owners_;  // by node
  std::vector<Shape> shapes_;
  std::vector<DType> types_;
  std::vector<int> use_begin_;  // by entry, in uses_; one more at the end
  std::vector<Use> uses_;
  std::vector<bool> is_output_;
  std::vector<bool> is_constant_;  // by node
  bool has_gradients_;
};

// The node in whose memory an entry may lie: the one that it is a view of, or may become one.
const Node* MemoryOf(const NodeEntry& entry);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_FACTS_H_
