#include "executor/compile/placed_graph.h"

#include "executor/program/kernel.h"
#include "symbol/schema/counted_shapes.h"

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
    if (CountsShapes(node)) needed_[graph.first_entry(i + 1) - 1] = true;
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

namespace {

// Returns whether node `i` has a kernel for `context` that supports the dtypes of its first input
// and first output.
bool CanRunOn(const InferredGraph& graph, int i, Context context) {
  const Node& node = *graph.whole->nodes()[i];
  const auto kernel = FindKernel(node.op()->name(), context.device_type);
  if (!kernel.ok()) return false;
  const auto takes = [&](int entry) { return (*kernel)->dtypes.contains(graph.type(entry)); };
  return (node.inputs().empty() || takes(graph.whole->entry(node.inputs()[0]))) &&
         (node.num_outputs() == 0 || takes(graph.whole->first_entry(i)));
}

void MoveWithoutKernel(const InferredGraph& graph, Placement& placement) {
  MoveToCpu(
      *graph.whole, [&](int i, Context context) { return CanRunOn(graph, i, context); },
      &placement);
  // Callers pass head gradients on the context of the output.
  for (size_t i = 0; i < graph.gradient.head_gradients.size(); ++i) {
    const NodeEntry& head = graph.gradient.head_gradients[i];
    if (!head) continue;
    const Node* const output = graph.forward.symbol.outputs()[i].node.get();
    placement.of_node[graph.whole->node_index(head.node.get())] =
        placement.of_node[graph.whole->node_index(output)];
  }
}

absl::flat_hash_set<const Node*> FindComputedByGradient(const InferredGraph& graph,
                                                        const NeededEntries& needed) {
  absl::flat_hash_set<const Node*> left;
  for (const NodePtr& gradient : graph.gradient.nodes) {
    const Node* forward = gradient->forward().get();
    if (forward == nullptr || !forward->op()->gradient_computes_outputs() ||
        !needed.HasNode(graph.whole->node_index(gradient.get()))) {
      continue;
    }
    left.insert(forward);
  }
  if (left.empty()) return left;
  for (const Node* node : graph.whole->nodes()) {
    for (const NodeEntry& input : node->inputs()) {
      if (node->forward() != input.node) left.erase(input.node.get());
    }
  }
  return left;
}

}  // namespace

PlacedGraph PlaceGraph(const InferredGraph& graph, const CompileOptions& options) {
  PlacedGraph placed{.placement = PlaceNodes(*graph.whole, options.group2ctx, options.context),
                     .needed = {},
                     .computed_by_gradient = {}};
  if (options.fallback) MoveWithoutKernel(graph, placed.placement);
  std::vector<NodeEntry> ends = graph.forward.symbol.outputs();
  ends.insert(ends.end(), graph.gradient.gradients.begin(), graph.gradient.gradients.end());
  placed.needed = NeededEntries(*graph.whole, ends, placed.placement);
  placed.computed_by_gradient = FindComputedByGradient(graph, placed.needed);
  return placed;
}

}  // namespace cooper
