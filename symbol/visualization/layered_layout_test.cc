#include "symbol/visualization/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbol/visualization/row_graph.h"
#include "symbol/visualization/row_positions.h"

namespace cooper {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RowGraphTest, InputsStandBelowAndNearTheirUsers) {
  // 0 -> 1 -> 2 -> 3, 0 -> 3, 4 -> 3: 4 needs no row of its own far below.
  const RowGraph graph = MakeRowGraph(5, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 3}});
  std::vector<int> row;
  row.reserve(5);
  for (int i = 0; i < 5; ++i) row.push_back(graph.items[i].row);
  EXPECT_THAT(row, ElementsAre(0, 1, 2, 3, 2));
  EXPECT_EQ(graph.items.size(), 7u);  // 0 -> 3 bends in rows 1 and 2
  EXPECT_EQ(graph.items[graph.last_item[3]].row, 2);
}

TEST(RowGraphTest, EdgesOfOneBoxShareTheirBends) {
  // A sequence (0) whose steps enter a chain 1 -> 2 -> 3 -> 4.
  const std::vector<LayoutEdge> edges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 3}, {3, 4}, {0, 4}};
  EXPECT_EQ(MakeRowGraph(5, edges).items.size(), 8u);
  // With fewer, the longest edge goes straight.
  const RowGraph straight = MakeRowGraph(5, edges, /*max_bends=*/2);
  EXPECT_EQ(straight.items.size(), 7u);
  EXPECT_EQ(straight.last_item[6], 0);
}

TEST(RowPositionsTest, WishesAreMetWhereThereIsRoom) {
  EXPECT_THAT(PlaceInRow({}, 1), IsEmpty());
  EXPECT_THAT(PlaceInRow({{.wish = 0, .width = 2}, {.wish = 10, .width = 2}}, 1),
              ElementsAre(DoubleEq(0), DoubleEq(10)));
  // Both want the same place: the heavier one gives way less.
  EXPECT_THAT(
      PlaceInRow({{.wish = 0, .weight = 3, .width = 2}, {.wish = 0, .weight = 1, .width = 4}}, 1),
      ElementsAre(DoubleEq(-1), DoubleEq(3)));
  // In the order given, though the wishes say otherwise.
  EXPECT_THAT(PlaceInRow({{.wish = 6, .width = 2}, {.wish = 0, .width = 2}}, 0),
              ElementsAre(DoubleEq(2), DoubleEq(4)));
}

class RandomLayoutTest : public testing::TestWithParam<int> {};

TEST_P(RandomLayoutTest, BoxesAreApartAndLinesJoinThem) {
  std::mt19937 random(GetParam());
  const int num_boxes = 1 + static_cast<int>(random() % 60);
  std::vector<double> widths;
  widths.reserve(static_cast<size_t>(num_boxes));
  for (int i = 0; i < num_boxes; ++i) widths.push_back(20 + random() % 100);
  std::vector<LayoutEdge> edges;
  for (int to = 1; to < num_boxes; ++to) {
    for (size_t k = random() % 4; k-- > 0;) {
      edges.push_back({static_cast<int>(random() % to), to});
    }
  }
  const LayoutOptions options;
  const LayeredLayout layout = MakeLayeredLayout(widths, edges, options);

  const double half = options.box_height / 2;
  ASSERT_EQ(layout.centers.size(), widths.size());
  for (int i = 0; i < num_boxes; ++i) {
    const LayoutPoint& a = layout.centers[i];
    EXPECT_GE(a.x - widths[i] / 2, options.margin - 1e-6);
    EXPECT_LE(a.x + widths[i] / 2, layout.width - options.margin + 1e-6);
    EXPECT_GE(a.y - half, options.margin);
    EXPECT_LE(a.y + half, layout.height - options.margin);
    for (int j = 0; j < i; ++j) {
      const LayoutPoint& b = layout.centers[j];
      const double room = (widths[i] + widths[j]) / 2 + options.item_gap;
      EXPECT_TRUE(std::abs(a.y - b.y) > 2 * half || std::abs(a.x - b.x) > room - 1e-6)
          << i << " and " << j;
    }
  }
  ASSERT_EQ(layout.lines.size(), edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    const std::vector<LayoutPoint>& line = layout.lines[e];
    const LayoutPoint& from = layout.centers[edges[e].from];
    const LayoutPoint& to = layout.centers[edges[e].to];
    ASSERT_GE(line.size(), 2u);
    EXPECT_DOUBLE_EQ(line.back().y, to.y + half);
    EXPECT_LE(std::abs(line.back().x - to.x), widths[edges[e].to] / 2);
    EXPECT_LE(line.front().y, from.y - half);
    for (size_t k = 1; k < line.size(); ++k) EXPECT_LT(line[k].y, line[k - 1].y);
    // From the box, or from where it leaves another line of that box.
    const bool from_box = line.front().x == from.x && line.front().y == from.y - half;
    bool from_line = false;
    for (size_t other = 0; other < e; ++other) {
      if (edges[other].from != edges[e].from) continue;
      const std::vector<LayoutPoint>& b = layout.lines[other];
      for (size_t k = 1; k < b.size(); ++k) {
        from_line |= line.front().y <= b[k - 1].y && line.front().y >= b[k].y;
      }
    }
    EXPECT_TRUE(from_box || from_line) << "edge " << e;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayoutTest, testing::Range(0, 40));

TEST(LayeredLayoutTest, AChainIsStraight) {
  const LayeredLayout layout = MakeLayeredLayout({100, 60, 80}, {{0, 1}, {1, 2}});
  EXPECT_DOUBLE_EQ(layout.centers[0].x, layout.centers[2].x);
  EXPECT_GT(layout.centers[0].y, layout.centers[1].y);  // inputs at the bottom
  EXPECT_DOUBLE_EQ(layout.width, 132);
  EXPECT_THAT(MakeLayeredLayout({}, {}).centers, IsEmpty());
}

TEST(LayeredLayoutTest, WhatEdgesShareIsDrawnOnce) {
  // 0 -> 2 and 0 -> 3 go the way of 0 -> 4, which the longest of them draws first.
  const LayeredLayout layout = MakeLayeredLayout(
      {50, 50, 50, 50, 50}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {0, 3}, {0, 2}});
  const double box_top = layout.centers[0].y - LayoutOptions().box_height / 2;
  EXPECT_EQ(layout.lines[4].front().y, box_top);
  EXPECT_LT(layout.lines[5].front().y, box_top);
  EXPECT_LT(layout.lines[6].front().y, box_top);
  EXPECT_LT(layout.lines[5].front().y, layout.lines[6].front().y);
}

TEST(LayeredLayoutTest, DeepGraphsDoNotRecurseNorTakeForever) {
  constexpr int kDepth = 20000;
  std::vector<LayoutEdge> edges;
  for (int i = 1; i < kDepth; ++i) {
    edges.push_back({i - 1, i});
    edges.push_back({0, i});
    if (i % 2 == 0) edges.push_back({i / 2, i});
  }
  const LayeredLayout layout = MakeLayeredLayout(std::vector<double>(kDepth, 50), edges);
  EXPECT_EQ(layout.lines.size(), edges.size());
}

}  // namespace
}  // namespace cooper
