#include "executor/compile/placement.h"

#include <algorithm>

namespace cooper {
namespace {

constexpr int kUnplaced = -1;

int IndexOf(Context context, std::vector<Context>* contexts) {
  const auto it = std::find(contexts->begin(), contexts->end(), context);
  if (it != contexts->end()) return static_cast<int>(it - contexts->begin());
  contexts->push_back(context);
  return static_cast<int>(contexts->size()) - 1;
}

// Returns the node of the user's graph that `node` belongs to: itself, or the node whose gradient
// it computes.
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
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    const AttrMap& attrs = Origin(node).attrs();
    const auto group = attrs.find("__ctx_group__");
    const auto context = group == attrs.end() ? group2ctx.end() : group2ctx.find(group->second);
    if (context != group2ctx.end()) {
      of_node[i] = IndexOf(context->second, &placement.contexts);
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

void MoveToCpu(const IndexedGraph& graph, const std::function<bool(int, Context)>& can_run,
               Placement* placement) {
  std::vector<int>& of_node = placement->of_node;
  std::vector<bool> stays(graph.num_nodes(), false);  // of variables: whether some reader stays
  std::vector<bool> moves(graph.num_nodes(), false);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (node.is_variable()) continue;
    const Context context = placement->contexts[of_node[i]];
    moves[i] = !context.is_cpu() && !can_run(i, context);
    for (const NodeEntry& input : node.inputs()) {
      const int at = graph.node_index(input.node.get());
      if (graph.nodes()[at]->is_variable()) (moves[i] ? moves : stays)[at] = true;
    }
  }
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const bool is_variable = graph.nodes()[i]->is_variable();
    if (!moves[i] || (is_variable && stays[i] && !graph.is_aux(i))) continue;
    of_node[i] = IndexOf(Context::Cpu(), &placement->contexts);
  }
}

}  // namespace cooper
