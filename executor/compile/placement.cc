#include "executor/compile/placement.h"

#include <algorithm>

namespace cooper {
namespace {

constexpr int kUnplaced = -1;

// The node that stands in the user's graph: itself, or that whose gradient it computes.
const Node& Origin(const Node& node) {
  const Node* origin = &node;
  while (origin->forward() != nullptr) origin = origin->forward().get();
  return *origin;
}

}  // namespace

Placement PlaceNodes(const IndexedGraph& graph, const std::map<std::string, Context>& group2ctx,
                     Context default_context) {
  Placement placement{.contexts = {default_context},
                      .of_node = std::vector<int>(graph.num_nodes(), kUnplaced)};
  std::vector<int>& of_node = placement.of_node;
  if (group2ctx.empty()) {
    std::fill(of_node.begin(), of_node.end(), 0);
    return placement;
  }
  auto index_of = [&](Context context) {
    auto& contexts = placement.contexts;
    const auto it = std::find(contexts.begin(), contexts.end(), context);
    if (it != contexts.end()) return static_cast<int>(it - contexts.begin());
    contexts.push_back(context);
    return static_cast<int>(contexts.size()) - 1;
  };
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    const AttrMap& attrs = Origin(node).attrs();
    const auto group = attrs.find("__ctx_group__");
    const auto context = group == attrs.end() ? group2ctx.end() : group2ctx.find(group->second);
    if (context != group2ctx.end()) {
      of_node[i] = index_of(context->second);
      continue;
    }
    for (const NodeEntry& input : node.inputs()) {
      const int at = of_node[graph.node_index(input.node.get())];
      if (at == kUnplaced) continue;
      of_node[i] = at;
      break;
    }
  }
  for (int i = graph.num_nodes() - 1; i >= 0; --i) {
    if (of_node[i] == kUnplaced) continue;
    for (const NodeEntry& input : graph.nodes()[i]->inputs()) {
      int& at = of_node[graph.node_index(input.node.get())];
      if (at == kUnplaced) at = of_node[i];
    }
  }
  std::replace(of_node.begin(), of_node.end(), kUnplaced, 0);
  return placement;
}

}  // namespace cooper
