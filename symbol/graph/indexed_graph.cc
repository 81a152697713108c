#include "symbol/graph/indexed_graph.h"

#include <utility>

namespace cooper {

IndexedGraph::IndexedGraph(const std::vector<NodeEntry>& heads) : nodes_(TopologicalOrder(heads)) {
  Number();
}

IndexedGraph::IndexedGraph(std::vector<const Node*> order) : nodes_(std::move(order)) { Number(); }

void IndexedGraph::Number() {
  index_.reserve(nodes_.size());
  first_entry_.reserve(nodes_.size() + 1);
  is_aux_.assign(nodes_.size(), false);
  int entries = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node* node = nodes_[i];
    index_.emplace(node, static_cast<int>(i));
    first_entry_.push_back(entries);
    entries += node->num_outputs();
    if (node->is_variable()) continue;
    for (int input : node->op()->AuxInputs(node->call())) {
      if (input >= static_cast<int>(node->inputs().size())) continue;
      const Node* source = node->inputs()[input].node.get();
      if (source->is_variable()) is_aux_[index_.at(source)] = true;
    }
  }
  first_entry_.push_back(entries);
}

}  // namespace cooper
