#include "symbol/visualization/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "symbol/visualization/row_positions.h"

namespace cooper {
namespace {

constexpr int kOrderSweeps = 8;
constexpr int kPositionSweeps = 6;
constexpr double kBendWeight = 4;  // a long line that is straight is worth moving boxes for

class Layouter {
 public:
  Layouter(const std::vector<double>& widths, const std::vector<LayoutEdge>& edges,
           const LayoutOptions& options)
      : edges_(edges),
        options_(options),
        num_boxes_(static_cast<int>(widths.size())),
        graph_(MakeRowGraph(num_boxes_, edges)),
        width_(widths),
        x_(graph_.items.size(), 0) {
    width_.resize(graph_.items.size(), 0);
  }

  LayeredLayout Run() {
    const int num_rows = static_cast<int>(graph_.rows.size());
    OrderRows(num_rows);
    for (std::vector<int>& row : graph_.rows) Place(row, [&](int item) { return x_[item]; });
    for (int sweep = 0; sweep < kPositionSweeps; ++sweep) {
      ForRows(num_rows, sweep, [&](std::vector<int>& row, bool upwards) {
        Place(row, [&](int item) { return Barycenter(item, upwards); });
      });
    }
    LayeredLayout layout;
    SetCenters(num_rows, layout);
    FindPorts();
    for (size_t e = 0; e < edges_.size(); ++e) layout.lines.push_back(Line(static_cast<int>(e)));
    return layout;
  }

 private:
  template <typename Fn>
  void ForRows(int num_rows, int sweep, Fn fn) {
    const bool upwards = sweep % 2 == 0;
    for (int i = 0; i < num_rows; ++i) fn(graph_.rows[upwards ? i : num_rows - 1 - i], upwards);
  }

  // Mean position of the neighbours on the side that the sweep comes from.
  double Barycenter(int item, bool upwards) const {
    const std::vector<int>& links = upwards ? graph_.items[item].below : graph_.items[item].above;
    if (links.empty()) return x_[item];
    // What leaves a line of bends does not bend it.
    if (item >= num_boxes_) {
      for (int other : links) {
        if (graph_.items[other].source == graph_.items[item].source) return x_[other];
      }
    }
    double sum = 0;
    for (int other : links) sum += x_[other];
    return sum / static_cast<double>(links.size());
  }

  void OrderRows(int num_rows) {
    for (std::vector<int>& row : graph_.rows) {
      std::stable_sort(row.begin(), row.end(), [&](int a, int b) {
        return graph_.items[a].source < graph_.items[b].source;
      });
      Pack(row);
    }
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      ForRows(num_rows, sweep, [&](std::vector<int>& row, bool upwards) {
        std::vector<std::pair<double, int>> keyed;
        keyed.reserve(row.size());
        for (int item : row) keyed.emplace_back(Barycenter(item, upwards), item);
        std::stable_sort(keyed.begin(), keyed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
        Pack(row);
      });
    }
  }

  // Side by side, with the middle at 0.
  void Pack(const std::vector<int>& row) {
    double total = options_.item_gap * static_cast<double>(row.size() - 1);
    for (int item : row) total += width_[item];
    double left = -total / 2;
    for (int item : row) {
      x_[item] = left + width_[item] / 2;
      left += width_[item] + options_.item_gap;
    }
  }

  template <typename Fn>
  void Place(const std::vector<int>& row, Fn wish) {
    std::vector<RowItem> items;
    items.reserve(row.size());
    for (int item : row) {
      items.push_back({wish(item), item < num_boxes_ ? 1 : kBendWeight, width_[item]});
    }
    const std::vector<double> centers = PlaceInRow(items, options_.item_gap);
    for (size_t i = 0; i < row.size(); ++i) x_[row[i]] = centers[i];
  }

  double RowTop(int row) const {
    const int from_top = static_cast<int>(graph_.rows.size()) - 1 - row;
    return options_.margin + from_top * (options_.box_height + options_.row_gap);
  }
  double RowBottom(int row) const { return RowTop(row) + options_.box_height; }

  void SetCenters(int num_rows, LayeredLayout& layout) {
    double left = 0;
    double right = 0;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (i == 0 || x_[i] - width_[i] / 2 < left) left = x_[i] - width_[i] / 2;
      if (i == 0 || x_[i] + width_[i] / 2 > right) right = x_[i] + width_[i] / 2;
    }
    for (double& x : x_) x += options_.margin - left;
    layout.width = right - left + 2 * options_.margin;
    layout.height = 2 * options_.margin;
    if (num_rows > 0) layout.height = RowBottom(0) + options_.margin;
    for (int i = 0; i < num_boxes_; ++i) {
      layout.centers.push_back({x_[i], RowTop(graph_.items[i].row) + options_.box_height / 2});
    }
  }

  // Edges that end at one box do so side by side, in the order of where they come from.
  void FindPorts() {
    std::vector<std::vector<int>> arriving(num_boxes_);
    for (size_t e = 0; e < edges_.size(); ++e) {
      arriving[edges_[e].to].push_back(static_cast<int>(e));
    }
    port_.resize(edges_.size());
    for (int i = 0; i < num_boxes_; ++i) {
      std::vector<int>& ends = arriving[i];
      if (ends.empty()) continue;
      std::stable_sort(ends.begin(), ends.end(), [&](int a, int b) {
        return x_[graph_.last_item[a]] < x_[graph_.last_item[b]];
      });
      const double step = 0.7 * width_[i] / static_cast<double>(ends.size());
      double x = x_[i] - step * static_cast<double>(ends.size() - 1) / 2;
      for (int e : ends) {
        port_[e] = x;
        x += step;
      }
    }
  }

  std::vector<LayoutPoint> Line(int e) {
    const int to = edges_[e].to;
    // Down from the user, as far as no other edge has been.
    std::vector<LayoutPoint> line = {{port_[e], RowBottom(graph_.items[to].row)}};
    int item = graph_.last_item[e];
    drawn_.resize(graph_.items.size(), false);
    while (item >= num_boxes_ && !drawn_[item]) {
      drawn_[item] = true;
      AddPoint({x_[item], RowTop(graph_.items[item].row)}, line);
      AddPoint({x_[item], RowBottom(graph_.items[item].row)}, line);
      item = graph_.items[item].below[0];
    }
    line.push_back({x_[item], RowTop(graph_.items[item].row)});
    std::reverse(line.begin(), line.end());
    return line;
  }

  // Without the points that a straight vertical line does not need.
  static void AddPoint(const LayoutPoint& point, std::vector<LayoutPoint>& line) {
    constexpr double kSame = 0.05;  // pixels
    const size_t n = line.size();
    if (n >= 2 && std::abs(line[n - 1].x - point.x) < kSame &&
        std::abs(line[n - 2].x - point.x) < kSame) {
      line.pop_back();
    }
    line.push_back(point);
  }

  const std::vector<LayoutEdge>& edges_;
  const LayoutOptions& options_;
  const int num_boxes_;
  RowGraph graph_;
  std::vector<double> width_;  // of items
  std::vector<double> x_;      // their centers
  std::vector<double> port_;   // per edge: where it ends
  std::vector<bool> drawn_;
};

}  // namespace

LayeredLayout MakeLayeredLayout(const std::vector<double>& box_widths,
                                const std::vector<LayoutEdge>& edges,
                                const LayoutOptions& options) {
  return Layouter(box_widths, edges, options).Run();
}

}  // namespace cooper
