#include "symbol/visualization/svg_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "symbol/visualization/layered_layout.h"
#include "symbol/visualization/printable_text.h"

namespace cooper {
namespace {

constexpr int kMostCharacters = 40;    // of a line in a box
constexpr double kCharacterWidth = 7;  // pixels; of most characters in 12 pixels of a sans serif
constexpr double kLeastBoxWidth = 96;
constexpr double kCornerRadius = 8;
constexpr double kLabelDrop = 16;  // below the box that an edge enters
constexpr LayoutOptions kLayout;

std::string EscapeXml(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&apos;"}});
}

std::string Shortened(const std::string& text) {
  if (NumCharacters(text) <= kMostCharacters) return text;
  return absl::StrCat(FirstCharacters(text, kMostCharacters - 1), "\u2026");
}

double BoxWidth(const NodeLabel& label) {
  const int longest =
      std::max(NumCharacters(Shortened(label.title)), NumCharacters(Shortened(label.detail)));
  return std::max(kLeastBoxWidth, (longest + 3) * kCharacterWidth);
}

// One line for all that a node takes from another.
struct Line {
  LayoutEdge edge;
  std::vector<std::string> labels;
};

std::vector<Line> MergeEdges(const std::vector<PlotEdge>& edges) {
  std::vector<Line> lines;
  absl::flat_hash_map<std::pair<int, int>, size_t> index;
  for (const PlotEdge& edge : edges) {
    const auto [it, is_new] = index.try_emplace({edge.input, edge.user}, lines.size());
    if (is_new) lines.push_back({.edge = {edge.input, edge.user}, .labels = {}});
    std::vector<std::string>& labels = lines[it->second].labels;
    if (edge.label.empty()) continue;
    if (std::find(labels.begin(), labels.end(), edge.label) == labels.end()) {
      labels.push_back(edge.label);
    }
  }
  return lines;
}

// The point at `distance` from `from` on the way to `to`.
LayoutPoint Towards(const LayoutPoint& from, const LayoutPoint& to, double distance) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length == 0) return from;
  const double share = distance / length;
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

double Distance(const LayoutPoint& a, const LayoutPoint& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

std::string PathData(const std::vector<LayoutPoint>& line) {
  std::string path = absl::StrFormat("M%.1f %.1f", line[0].x, line[0].y);
  for (size_t i = 1; i + 1 < line.size(); ++i) {
    const LayoutPoint& corner = line[i];
    const double radius = std::min(
        {kCornerRadius, Distance(line[i - 1], corner) / 2, Distance(corner, line[i + 1]) / 2});
    const LayoutPoint before = Towards(corner, line[i - 1], radius);
    const LayoutPoint after = Towards(corner, line[i + 1], radius);
    absl::StrAppendFormat(&path, "L%.1f %.1fQ%.1f %.1f %.1f %.1f", before.x, before.y, corner.x,
                          corner.y, after.x, after.y);
  }
  absl::StrAppendFormat(&path, "L%.1f %.1f", line.back().x, line.back().y);
  return path;
}

void AppendNode(const PlotNode& node, double width, const LayoutPoint& center, std::string* svg) {
  const double height = kLayout.box_height;
  absl::StrAppend(svg, "<g><title>", EscapeXml(node.id));
  if (!node.attrs.empty()) absl::StrAppend(svg, "\n", EscapeXml(node.attrs));
  absl::StrAppend(svg, "</title>");
  if (node.is_variable) {
    absl::StrAppendFormat(svg, "<ellipse cx=\"%.1f\" cy=\"%.1f\" rx=\"%.1f\" ry=\"%.1f\"", center.x,
                          center.y, width / 2, height / 2);
  } else {
    absl::StrAppendFormat(svg,
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\"",
                          center.x - width / 2, center.y - height / 2, width, height);
  }
  absl::StrAppend(svg, " fill=\"", node.label.color, "\" stroke=\"#333\"/>");
  const auto append_text = [&](double baseline, const std::string& text) {
    absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", center.x, baseline,
                          EscapeXml(Shortened(text)));
  };
  const bool two_lines = !node.label.detail.empty();
  append_text(center.y + (two_lines ? -3 : 4), node.label.title);
  if (two_lines) append_text(center.y + 13, node.label.detail);
  absl::StrAppend(svg, "</g>\n");
}

}  // namespace

std::string WriteSvg(const NetworkPlot& plot, const std::string& title) {
  std::vector<double> widths;
  widths.reserve(plot.nodes.size());
  for (const PlotNode& node : plot.nodes) widths.push_back(BoxWidth(node.label));
  const std::vector<Line> lines = MergeEdges(plot.edges);
  std::vector<LayoutEdge> edges;
  edges.reserve(lines.size());
  for (const Line& line : lines) edges.push_back(line.edge);
  const LayeredLayout layout = MakeLayeredLayout(widths, edges, kLayout);

  std::string svg = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
      "<title>%s</title>\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" orient=\"auto\"><path d=\"M1 1L7 4L1 7\" fill=\"none\" "
      "stroke=\"#555\"/></marker></defs>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
      "<g fill=\"none\" stroke=\"#555\" marker-end=\"url(#arrow)\">\n",
      layout.width, layout.height, layout.width, layout.height, EscapeXml(PrintableText(title)));
  for (const std::vector<LayoutPoint>& line : layout.lines) {
    absl::StrAppend(&svg, "<path d=\"", PathData(line), "\"/>\n");
  }
  absl::StrAppend(&svg, "</g>\n<g text-anchor=\"middle\">\n");
  for (size_t i = 0; i < plot.nodes.size(); ++i) {
    AppendNode(plot.nodes[i], widths[i], layout.centers[i], &svg);
  }
  // Beside the arrows' ends, and over all lines.
  absl::StrAppend(&svg, "</g>\n<g font-size=\"10\" fill=\"#333\">\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].labels.empty()) continue;
    const std::vector<LayoutPoint>& line = layout.lines[i];
    const LayoutPoint& end = line.back();
    const LayoutPoint& before = line[line.size() - 2];
    const double drop = std::min(kLabelDrop, (before.y - end.y) / 2);
    const LayoutPoint at = Towards(end, before, Distance(end, before) * drop / (before.y - end.y));
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", at.x + 4, at.y + 3,
                          EscapeXml(absl::StrJoin(lines[i].labels, ", ")));
  }
  return svg + "</g>\n</svg>\n";
}

}  // namespace cooper
