#include "symbol/visualization/network_plot.h"

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"
#include "symbol/indexed_graph.h"
#include "symbol/visualization/entry_shapes.h"
#include "symbol/visualization/printable_text.h"
#include "symbol/visualization/variable_role.h"

namespace cooper {
namespace {

std::vector<bool> HiddenNodes(const IndexedGraph& graph, const KnownShapes& shapes) {
  const std::vector<VariableRole> by_look = VariableRoles(graph, {});
  const std::vector<VariableRole> by_shapes = VariableRoles(graph, shapes);
  std::vector<bool> hidden(graph.num_nodes());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    hidden[i] = by_look[i] == VariableRole::kAuxiliary ||
                (by_look[i] == VariableRole::kParameter && by_look[i] == by_shapes[i]);
  }
  return hidden;
}

std::string WrittenAttrs(const Node& node) {
  std::string text;
  for (const auto& [key, value] : node.attrs()) {
    if (absl::StartsWith(key, "__")) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, "=", value);
  }
  return PrintableText(text);
}

// Operators may share a name, while DOT takes nodes of one id for one node.
class UniqueIds {
 public:
  std::string Make(const std::string& name) {
    std::string id = name;
    while (!used_.insert(id).second) id = absl::StrCat(name, "#", ++suffix_);
    return id;
  }

 private:
  absl::flat_hash_set<std::string> used_;
  int suffix_ = 1;
};

}  // namespace

absl::StatusOr<NetworkPlot> MakeNetworkPlot(const Symbol& symbol, const KnownShapes& shapes,
                                            bool hide_weights) {
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(const std::vector<PartialShape> entry_shapes,
                          EntryShapes(symbol, graph, shapes));
  std::vector<bool> hidden(graph.num_nodes(), false);
  if (hide_weights) hidden = HiddenNodes(graph, shapes);

  NetworkPlot plot;
  UniqueIds ids;
  std::vector<int> position(graph.num_nodes(), -1);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (hidden[i]) continue;
    const Node& node = *graph.nodes()[i];
    position[i] = static_cast<int>(plot.nodes.size());
    plot.nodes.push_back({.id = ids.Make(PrintableText(node.name())),
                          .label = MakeNodeLabel(node),
                          .is_variable = node.is_variable(),
                          .attrs = WrittenAttrs(node)});
    for (const NodeEntry& input : node.inputs()) {
      const int from = position[graph.node_index(input.node.get())];
      if (from < 0) continue;
      std::string label;
      if (!shapes.empty()) label = ShapeWithoutBatch(entry_shapes[graph.entry(input)]);
      plot.edges.push_back({from, position[i], std::move(label)});
    }
  }
  return plot;
}

}  // namespace cooper
