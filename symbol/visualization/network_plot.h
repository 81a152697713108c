#ifndef COOPER_SYMBOL_VISUALIZATION_NETWORK_PLOT_H_
#define COOPER_SYMBOL_VISUALIZATION_NETWORK_PLOT_H_

// The picture of a network before it has a format: boxes and arrows with their texts. DOT and SVG
// are two ways to write it.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/infer_shape.h"
#include "symbol/symbol.h"
#include "symbol/visualization/node_label.h"

namespace cooper {

struct PlotNode {
  std::string id;  // the node's name, made printable and unique
  NodeLabel label;
  bool is_variable = false;
  std::string attrs;  // "num_hidden=128, no_bias=True": as written, without hidden ones
};

// An input of a node. Positions in NetworkPlot::nodes.
struct PlotEdge {
  int input = 0;
  int user = 0;
  std::string label;  // the shape without its batch axis; may be empty
};

struct NetworkPlot {
  std::vector<PlotNode> nodes;  // inputs before users
  std::vector<PlotEdge> edges;  // of each user in the order of its inputs
};

// Leaves out weights and auxiliary states if `hide_weights`: variables that look like parameters by
// the rules of variable_role.h without shapes, unless `shapes` names them as data. Labels edges
// unless `shapes` is empty.
//
// Fails as InferShapePartial does; incomplete shapes are no error.
absl::StatusOr<NetworkPlot> MakeNetworkPlot(const Symbol& symbol, const KnownShapes& shapes,
                                            bool hide_weights);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_NETWORK_PLOT_H_
