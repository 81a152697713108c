#ifndef COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
#define COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_

// Draws a network as MXNet's mx.viz.plot_network does: a box per operator with its name and main
// parameters, coloured by kind, an oval per input, data at the bottom, arrows from inputs to users.
// Graphviz does the layout. Links no kernel and needs no data.
//
// MXNet: python/mxnet/visualization.py.

#include <string>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/attr_values.h"

namespace cooper {

// Options of PlotNetworkDot, with the defaults of MXNet's plot_network.
struct PlotOptions {
  std::string title = "plot";
  // Shapes of inputs by name. If there are any, edges are labelled with the shapes of their arrays,
  // without the batch axis.
  KnownShapes shapes;
  // Leaves out weights and auxiliary states (variable_role.h has the rules).
  bool hide_weights = true;
  // Graphviz attributes of nodes, which override or extend MXNet's: with {"fixedsize", "false"}
  // boxes grow with their text.
  AttrValues node_attrs;
};

// Returns text for Graphviz, `dot -Tsvg net.dot`. Nodes are identified by their names, which may
// have any characters; unprintable ones become U+FFFD, and operators of one name are numbered. The
// attributes of a node are its tooltip. Not recursive, so deep graphs are drawn too.
//
// Fails with kInvalidArgument if shapes contradict each other and with kNotFound if they name no
// variable of the graph.
absl::StatusOr<std::string> PlotNetworkDot(const Symbol& symbol, const PlotOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
