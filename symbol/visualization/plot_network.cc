#include "symbol/visualization/plot_network.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/visualization/entry_shapes.h"
#include "symbol/visualization/node_label.h"
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

// Returns "num_hidden=128, no_bias=True": the attributes as written, without hidden ones.
std::string WrittenAttrs(const Node& node) {
  std::string text;
  for (const auto& [key, value] : node.attrs()) {
    if (absl::StartsWith(key, "__")) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, "=", value);
  }
  return PrintableText(text);
}

// Makes node ids unique: operators may share a name, but DOT identifies nodes by id.
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

// Escapes text for a quoted DOT string.
std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}});
}

std::string Quoted(const std::string& text) { return absl::StrCat("\"", Escaped(text), "\""); }

// Escapes "&" too, since Graphviz expands entities such as &lt; in labels and tooltips (only
// there).
std::string LabelText(const std::string& text) {
  return absl::StrReplaceAll(Escaped(text), {{"&", "&amp;"}});
}

std::string NodeDefaults(const AttrValues& node_attrs) {
  std::map<std::string, std::string> defaults = {{"fixedsize", "true"},
                                                 {"height", "0.8034"},
                                                 {"shape", "box"},
                                                 {"style", "filled"},
                                                 {"width", "1.3"}};
  for (const auto& [key, value] : node_attrs) defaults[key] = value;
  std::string text;
  for (const auto& [key, value] : defaults) {
    absl::StrAppend(&text, text.empty() ? "" : " ", Quoted(PrintableText(key)), "=",
                    Quoted(PrintableText(value)));
  }
  return text;
}

std::string NodeLine(const std::string& id, const Node& node) {
  const NodeLabel label = MakeNodeLabel(node);
  std::string line = absl::StrCat("\t", Quoted(id), " [label=\"");
  if (!node.is_variable()) {
    absl::StrAppend(&line, LabelText(PrintableText(node.name())), "\\n");
  }
  line += LabelText(label.title);
  if (!label.detail.empty()) absl::StrAppend(&line, "\\n", LabelText(label.detail));
  absl::StrAppend(&line, "\" fillcolor=\"", label.color, "\"");
  if (const std::string attrs = WrittenAttrs(node); !attrs.empty()) {
    absl::StrAppend(&line, " tooltip=\"", LabelText(attrs), "\"");
  }
  return line + (node.is_variable() ? " shape=oval]\n" : "]\n");
}

}  // namespace

// Edges run from users to inputs and point back (dir=back), which puts data at the bottom.
absl::StatusOr<std::string> PlotNetworkDot(const Symbol& symbol, const PlotOptions& options) {
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(const std::vector<PartialShape> entry_shapes,
                          EntryShapes(symbol, graph, options.shapes));
  std::vector<bool> hidden(graph.num_nodes(), false);
  if (options.hide_weights) hidden = HiddenNodes(graph, options.shapes);

  UniqueIds unique;
  std::vector<std::string> ids(graph.num_nodes());
  std::string nodes, edges;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (hidden[i]) continue;
    const Node& node = *graph.nodes()[i];
    ids[i] = unique.Make(PrintableText(node.name()));
    nodes += NodeLine(ids[i], node);
    for (const NodeEntry& input : node.inputs()) {
      const int from = graph.node_index(input.node.get());
      if (hidden[from]) continue;
      std::string label;
      if (!options.shapes.empty()) label = ShapeWithoutBatch(entry_shapes[graph.entry(input)]);
      absl::StrAppend(&edges, "\t", Quoted(ids[i]), " -> ", Quoted(ids[from]), " [label=\"",
                      LabelText(label), "\" arrowtail=open dir=back]\n");
    }
  }
  return absl::StrCat("digraph ", Quoted(PrintableText(options.title)), " {\n\tnode [",
                      NodeDefaults(options.node_attrs), "]\n", nodes, edges, "}\n");
}

}  // namespace cooper
