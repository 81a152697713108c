#include "symbol/graph/indexed_graph.h"

#include <utility>

#include "absl/container/flat_hash_map.h"

namespace cooper {

struct IndexedGraph::Index {
  absl::flat_hash_map<const Node*, int> of_node;
};

IndexedGraph::IndexedGraph(const std::vector<NodeEntry>& heads) : nodes_(TopologicalOrder(heads)) {
  Number();
}

IndexedGraph::IndexedGraph(std::vector<const Node*> order) : nodes_(std::move(order)) { Number(); }

int IndexedGraph::node_index(const Node* node) const { return index_->of_node.at(node); }

bool IndexedGraph::contains(const Node* node) const { return index_->of_node.contains(node); }

void IndexedGraph::Number() {
  auto index = std::make_shared<Index>();
  index->of_node.reserve(nodes_.size());
  first_entry_.reserve(nodes_.size() + 1);
  is_aux_.assign(nodes_.size(), false);
  int entries = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node* node = nodes_[i];
    index->of_node.emplace(node, static_cast<int>(i));
    first_entry_.push_back(entries);
    entries += node->num_outputs();
    if (node->is_variable()) continue;
    for (int input : node->op()->AuxInputs(node->call())) {
      if (input >= static_cast<int>(node->inputs().size())) continue;
      const Node* source = node->inputs()[input].node.get();
      if (source->is_variable()) is_aux_[index->of_node.at(source)] = true;
    }
  }
  first_entry_.push_back(entries);
  index_ = std::move(index);
}

}  // namespace cooper
