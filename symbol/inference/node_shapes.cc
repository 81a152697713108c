#include "symbol/inference/node_shapes.h"

#include "absl/types/span.h"
#include "symbol/inference/inference.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

absl::Status InferNodeShapes(const IndexedGraph& graph, int i, std::vector<PartialShape>& shapes) {
  const Node& node = *graph.nodes()[i];
  std::vector<PartialShape> inputs;
  const auto take = [&](const Node& of) {
    for (const NodeEntry& input : of.inputs()) inputs.push_back(shapes[graph.entry(input)]);
  };
  take(node);
  if (node.forward() != nullptr && graph.contains(node.forward().get())) take(*node.forward());
  std::vector<PartialShape*> pointers;
  for (PartialShape& input : inputs) pointers.push_back(&input);
  for (int k = 0; k < node.num_outputs(); ++k)
    pointers.push_back(&shapes[graph.first_entry(i) + k]);
  const absl::Span<PartialShape* const> all(pointers);
  const size_t count = node.inputs().size();
  return ApplyRule<ShapeContext>(node, all.first(count), all.subspan(inputs.size()),
                                 all.subspan(count, inputs.size() - count), &OpSchema::shape,
                                 [](const PartialShape& s) { return s.ToString(); });
}

}  // namespace cooper
