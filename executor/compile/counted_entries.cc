#include "executor/compile/counted_entries.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "symbol/inference/node_shapes.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

// Returns whether the shape rule of the node reads a counted shape.
bool ReadsCounted(const IndexedGraph& graph, const std::vector<bool>& counted, const Node& node) {
  const Node* const forward = node.forward().get();
  return CountedInput(graph, counted, node) >= 0 ||
         (graph.contains(forward) && CountedInput(graph, counted, *forward) >= 0);
}

}  // namespace

std::vector<bool> FindCountedEntries(const IndexedGraph& graph, const Symbol& symbol,
                                     const GradientGraph& gradient,
                                     const std::vector<PartialShape>& largest) {
  std::vector<bool> counted(graph.num_entries(), false);
  if (absl::c_none_of(graph.nodes(), [](const Node* node) { return CountsShapes(*node); })) {
    return counted;
  }
  absl::flat_hash_map<const Node*, int> output_of_head;
  for (size_t i = 0; i < gradient.head_gradients.size(); ++i) {
    const NodeEntry& head = gradient.head_gradients[i];
    if (head) output_of_head[head.node.get()] = graph.entry(symbol.outputs()[i]);
  }
  // The shapes that are known without a run.
  std::vector<PartialShape> known = largest;
  const auto forget = [&](int entry) {
    known[entry] = PartialShape::OfRank(largest[entry].rank());
  };
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    const int begin = graph.first_entry(i), end = graph.first_entry(i + 1);
    if (const auto head = output_of_head.find(&node); head != output_of_head.end()) {
      known[begin] = known[head->second];
      counted[begin] = counted[head->second];
    } else if (CountsShapes(node)) {
      for (int entry = begin; entry < end - 1; ++entry) {
        forget(entry);
        counted[entry] = true;
      }
    } else if (!node.is_variable() && ReadsCounted(graph, counted, node)) {
      for (int entry = begin; entry < end; ++entry) forget(entry);
      const bool inferred = InferNodeShapes(graph, i, known).ok();
      for (int entry = begin; entry < end; ++entry) {
        counted[entry] = !inferred || !known[entry].IsFull();
      }
    }
  }
  return counted;
}

int CountedInput(const IndexedGraph& graph, const std::vector<bool>& counted, const Node& node) {
  const auto is_counted = [&](const NodeEntry& input) { return counted[graph.entry(input)]; };
  const auto input = absl::c_find_if(node.inputs(), is_counted);
  return input == node.inputs().end() ? -1 : static_cast<int>(input - node.inputs().begin());
}

absl::Status CountedInputError(const Node& node, int input, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat(
      Describe(node), ": the shape of its input '", node.op()->InputNames(node.call())[input],
      "', ", Describe(*node.inputs()[input].node), ", depends on values", why));
}

}  // namespace cooper
