#ifndef COOPER_SYMBOL_VISUALIZATION_LAYERED_LAYOUT_H_
#define COOPER_SYMBOL_VISUALIZATION_LAYERED_LAYOUT_H_

// Where the boxes of a directed graph stand in a drawing in layers, and which way its edges take:
// rows by longest path, an order in each row by barycenters, then positions along the rows. Plain
// data in pixels, y downwards; knows no symbols. Equal input gives an equal layout.

#include <vector>

#include "symbol/visualization/row_graph.h"

namespace cooper {

struct LayoutPoint {
  double x = 0;
  double y = 0;
};

struct LayoutOptions {
  double box_height = 40;
  double row_gap = 44;   // between the boxes of neighbouring rows
  double item_gap = 18;  // between neighbours in a row
  double margin = 16;    // around everything
};

struct LayeredLayout {
  std::vector<LayoutPoint> centers;  // of boxes
  // A line per edge, upwards from the border of `from` to that of `to`. Where several edges of a
  // box go the same way, one of them has that way, and the others begin where they leave it.
  std::vector<std::vector<LayoutPoint>> lines;
  double width = 0;
  double height = 0;
};

// `edges` run from lower to higher numbers of boxes. Inputs stand below their users. Time grows
// with the number of boxes and bends (row_graph.h), times its logarithm.
LayeredLayout MakeLayeredLayout(const std::vector<double>& box_widths,
                                const std::vector<LayoutEdge>& edges,
                                const LayoutOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_LAYERED_LAYOUT_H_
