#include "executor/compile/whole_graph.h"

#include <utility>

#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

IndexedGraph WholeGraph(const IndexedGraph& forward, const GradientGraph& gradient) {
  std::vector<const Node*> order = forward.nodes();
  for (const NodeEntry& head : gradient.head_gradients) {
    if (head) order.push_back(head.node.get());
  }
  for (const NodePtr& node : gradient.nodes) order.push_back(node.get());
  return IndexedGraph(std::move(order));
}

absl::StatusOr<std::vector<PartialShape>> InferWholeShapes(
    const Symbol& symbol, const GradientGraph& gradient, const IndexedGraph& whole,
    std::vector<PartialShape> forward_shapes) {
  std::vector<PartialShape> shapes = std::move(forward_shapes);
  shapes.resize(whole.num_entries());
  // The gradient of an output is shaped like it.
  for (size_t i = 0; i < gradient.head_gradients.size(); ++i) {
    const NodeEntry& head = gradient.head_gradients[i];
    if (head) shapes[whole.entry(head)] = shapes[whole.entry(symbol.outputs()[i])];
  }
  if (gradient.nodes.empty()) return shapes;
  COOPER_RETURN_IF_ERROR(InferEntryShapes(whole, shapes));
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(whole, shapes));
  return shapes;
}

}  // namespace cooper
