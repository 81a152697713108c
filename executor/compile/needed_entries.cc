#include "executor/compile/needed_entries.h"

namespace cooper {

NeededEntries::NeededEntries(const IndexedGraph& graph, absl::Span<const NodeEntry> ends,
                             const Placement& placement)
    : graph_(&graph), needed_(graph.num_entries(), false) {
  std::vector<bool> shape_needed(graph.num_entries(), false);
  for (const NodeEntry& end : ends) {
    if (end) needed_[graph.entry(end)] = true;
  }
  for (int i = graph.num_nodes() - 1; i >= 0; --i) {
    if (!HasNode(i)) {
      for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) {
        if (shape_needed[e]) needed_[e] = true;
      }
    }
    if (!HasNode(i)) continue;
    const Node& node = *graph.nodes()[i];
    const bool shapes_alone = !node.is_variable() && node.op()->reads_shapes_alone();
    for (const NodeEntry& input : node.inputs()) {
      const bool here =
          placement.of_node[graph.node_index(input.node.get())] == placement.of_node[i];
      (here && shapes_alone ? shape_needed : needed_)[graph.entry(input)] = true;
    }
  }
}

bool NeededEntries::HasNode(int i) const {
  for (int e = graph_->first_entry(i); e < graph_->first_entry(i + 1); ++e) {
    if (needed_[e]) return true;
  }
  return false;
}

}  // namespace cooper
