#include "symbol/visualization/row_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cooper {
namespace {

struct Neighbours {
  std::vector<int> inputs;
  std::vector<int> users;
};

// Moves boxes up to their lowest user where their own line gets shorter by as much as the lines of
// their inputs get longer, or more. Those of inputs that reach higher anyway do not.
void MoveUpToUsers(const std::vector<Neighbours>& boxes, std::vector<int>& row) {
  std::vector<int> top(boxes.size(), 0);  // the highest row among a box's users
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (int user : boxes[i].users) top[i] = std::max(top[i], row[user]);
  }
  for (size_t i = boxes.size(); i-- > 0;) {
    if (boxes[i].users.empty()) continue;
    int lowest_user = row[boxes[i].users[0]];
    for (int user : boxes[i].users) lowest_user = std::min(lowest_user, row[user]);
    const int target = lowest_user - 1;
    int64_t longer = 0;
    for (int input : boxes[i].inputs) longer += std::max(0, target - top[input]);
    if (longer > target - row[i]) continue;
    row[i] = target;
    for (int input : boxes[i].inputs) top[input] = std::max(top[input], target);
  }
}

std::vector<int> BoxRows(int num_boxes, const std::vector<LayoutEdge>& edges) {
  std::vector<Neighbours> boxes(num_boxes);
  for (const LayoutEdge& edge : edges) {
    boxes[edge.from].users.push_back(edge.to);
    boxes[edge.to].inputs.push_back(edge.from);
  }
  std::vector<int> row(num_boxes, 0);
  for (int i = 0; i < num_boxes; ++i) {
    for (int input : boxes[i].inputs) row[i] = std::max(row[i], row[input] + 1);
  }
  MoveUpToUsers(boxes, row);
  return row;
}

}  // namespace

RowGraph MakeRowGraph(int num_boxes, const std::vector<LayoutEdge>& edges, int max_bends) {
  RowGraph graph;
  const std::vector<int> row = BoxRows(num_boxes, edges);
  const auto add_item = [&](int item_row, int source) {
    graph.items.push_back({.row = item_row, .source = source, .below = {}, .above = {}});
    if (static_cast<int>(graph.rows.size()) <= item_row) graph.rows.resize(item_row + 1);
    graph.rows[item_row].push_back(static_cast<int>(graph.items.size()) - 1);
  };
  const auto link = [&](int low, int high) {
    graph.items[low].above.push_back(high);
    graph.items[high].below.push_back(low);
  };
  for (int i = 0; i < num_boxes; ++i) add_item(row[i], i);

  // The line of bends above each box: bends[i][k] stands in row row[i] + 1 + k.
  std::vector<std::vector<int>> bends(num_boxes);
  int num_bends = 0;
  for (const LayoutEdge& edge : edges) {
    std::vector<int>& line = bends[edge.from];
    const int length = row[edge.to] - row[edge.from] - 1;
    const int more = std::max(0, length - static_cast<int>(line.size()));
    if (more > max_bends - num_bends) {
      graph.last_item.push_back(edge.from);
      continue;
    }
    num_bends += more;
    while (static_cast<int>(line.size()) < length) {
      const int below = line.empty() ? edge.from : line.back();
      add_item(graph.items[below].row + 1, edge.from);
      line.push_back(static_cast<int>(graph.items.size()) - 1);
      link(below, line.back());
    }
    graph.last_item.push_back(length == 0 ? edge.from : line[length - 1]);
    link(graph.last_item.back(), edge.to);
  }
  return graph;
}

}  // namespace cooper
