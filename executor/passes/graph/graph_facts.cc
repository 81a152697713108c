#include "executor/passes/graph/graph_facts.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "symbol/schema/counted_shapes.h"

namespace cooper {

GraphFacts::GraphFacts(const Symbol& symbol, std::vector<Shape> shapes, std::vector<DType> types,
                       bool has_gradients, const std::set<std::string>& constants)
    : symbol_(symbol),
      graph_(symbol_.outputs()),
      owners_(graph_.num_nodes()),
      shapes_(std::move(shapes)),
      types_(std::move(types)),
      use_begin_(graph_.num_entries() + 1, 0),
      is_output_(graph_.num_entries(), false),
      is_constant_(graph_.num_nodes(), false),
      has_gradients_(has_gradients) {
  for (const Node* node : graph_.nodes()) {
    for (const NodeEntry& input : node->inputs()) {
      ++use_begin_[graph_.entry(input) + 1];
      owners_[index(input)] = input.node;
    }
  }
  for (const NodeEntry& output : symbol_.outputs()) owners_[index(output)] = output.node;
  for (int e = 0; e < graph_.num_entries(); ++e) use_begin_[e + 1] += use_begin_[e];
  uses_.resize(use_begin_.back());
  std::vector<int> next = use_begin_;
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    const auto& inputs = graph_.nodes()[i]->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      uses_[next[graph_.entry(inputs[k])]++] = {.node = i, .input = static_cast<int>(k)};
    }
  }
  for (const NodeEntry& output : symbol_.outputs()) is_output_[graph_.entry(output)] = true;
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    const Node& node = *graph_.nodes()[i];
    if (node.is_variable()) {
      is_constant_[i] = constants.contains(node.name());
      continue;
    }
    // _quantized_weight reads its auxiliary states alone.
    const bool writes =
        !node.op()->WrittenInputs(node.call()).empty() && node.op()->name() != "_quantized_weight";
    is_constant_[i] = !node.inputs().empty() && !node.op()->is_random() && !CountsShapes(node) &&
                      !writes && absl::c_all_of(node.inputs(), [&](const NodeEntry& input) {
                        return is_constant_[index(input)];
                      });
  }
}

absl::Span<const GraphFacts::Use> GraphFacts::uses_of(int node, int output) const {
  const int entry = graph_.first_entry(node) + output;
  return absl::MakeConstSpan(uses_).subspan(use_begin_[entry],
                                            use_begin_[entry + 1] - use_begin_[entry]);
}

const Node* MemoryOf(const NodeEntry& entry) {
  const Node* node = entry.node.get();
  while (!node->is_variable()) {
    const OpSchema& op = *node->op();
    const bool joins_one = op.join_axis() && node->inputs().size() == 1;
    if (!op.keeps_elements() && !op.transposed_axes() && !op.slice() && !op.split_axis() &&
        !joins_one) {
      break;
    }
    node = node->inputs()[0].node.get();
  }
  return node;
}

}  // namespace cooper
