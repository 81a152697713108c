#include "symbol/visualization/dot_writer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "symbol/visualization/printable_text.h"

namespace cooper {
namespace {

// Any text as it stands between the quotes of a DOT string.
std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}});
}

std::string Quoted(const std::string& text) { return absl::StrCat("\"", Escaped(text), "\""); }

// In labels, and only there, Graphviz reads entities such as &lt; too.
std::string LabelText(const std::string& text) {
  return absl::StrReplaceAll(Escaped(text), {{"&", "&amp;"}});
}

}  // namespace

std::string WriteDot(const NetworkPlot& plot, const std::string& title,
                     const std::map<std::string, std::string>& node_attrs) {
  std::map<std::string, std::string> defaults = {{"fixedsize", "true"},
                                                 {"height", "0.8034"},
                                                 {"shape", "box"},
                                                 {"style", "filled"},
                                                 {"width", "1.3"}};
  for (const auto& [key, value] : node_attrs) defaults[key] = value;

  std::string dot = absl::StrCat("digraph ", Quoted(PrintableText(title)), " {\n\tnode [");
  const char* separator = "";
  for (const auto& [key, value] : defaults) {
    absl::StrAppend(&dot, separator, Quoted(PrintableText(key)), "=", Quoted(PrintableText(value)));
    separator = " ";
  }
  dot += "]\n";
  for (const PlotNode& node : plot.nodes) {
    absl::StrAppend(&dot, "\t", Quoted(node.id), " [label=\"", LabelText(node.label.title));
    if (!node.label.detail.empty()) absl::StrAppend(&dot, "\\n", LabelText(node.label.detail));
    absl::StrAppend(&dot, "\" fillcolor=\"", node.label.color, "\"",
                    node.is_variable ? " shape=oval]\n" : "]\n");
  }
  for (const PlotEdge& edge : plot.edges) {
    absl::StrAppend(&dot, "\t", Quoted(plot.nodes[edge.user].id), " -> ",
                    Quoted(plot.nodes[edge.input].id), " [label=\"", LabelText(edge.label),
                    "\" arrowtail=open dir=back]\n");
  }
  return dot + "}\n";
}

}  // namespace cooper
