#ifndef COOPER_SYMBOL_GRAPH_INDEXED_GRAPH_H_
#define COOPER_SYMBOL_GRAPH_INDEXED_GRAPH_H_

// A graph with numbered nodes and outputs, for algorithms that keep a vector of data per node or
// per output. Nodes are numbered inputs first (TopologicalOrder); the outputs of a node are
// consecutive.

#include <memory>
#include <vector>

#include "symbol/schema/node.h"

namespace cooper {

// A numbered graph. Lookups by node take constant time. Immutable, so thread-safe. An entry is the
// number of an output, in [0, num_entries()).
class IndexedGraph {
 public:
  // Numbers the graph that `heads` reach. Keeps pointers to its nodes, which `heads` must keep
  // alive as long as this object is used.
  explicit IndexedGraph(const std::vector<NodeEntry>& heads);
  // Numbers the nodes of `order`, which lists each after its inputs and must outlive this.
  explicit IndexedGraph(std::vector<const Node*> order);

  // Return the nodes, each after its inputs, and the numbers of nodes and of their outputs.
  const std::vector<const Node*>& nodes() const { return nodes_; }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  int num_entries() const { return first_entry_.back(); }
  // Returns the number of a node of the graph; the node must be in it (contains).
  int node_index(const Node* node) const;
  bool contains(const Node* node) const;
  // Returns the number of output 0 of node `i`.
  int first_entry(int i) const { return first_entry_[i]; }
  // Returns the number of an output.
  int entry(const NodeEntry& e) const { return first_entry_[node_index(e.node.get())] + e.index; }

  // Returns whether node `i` is a variable that some operator uses as an auxiliary state.
  bool is_aux(int i) const { return is_aux_[i]; }

 private:
  // The positions in nodes_, as a hash table whose header users of this file need not compile.
  struct Index;

  void Number();

  std::vector<const Node*> nodes_;
  std::shared_ptr<const Index> index_;
  std::vector<int> first_entry_;  // one more than nodes
  std::vector<bool> is_aux_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_INDEXED_GRAPH_H_
