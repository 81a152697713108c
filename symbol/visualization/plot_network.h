#ifndef COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
#define COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_

// A network as a picture, as MXNet's mx.viz.plot_network draws it: a box per operator with its main
// parameters, coloured by kind, an oval per input, data at the bottom, arrows from inputs to users.
// Links no kernel and needs no data.
//
// MXNet: python/mxnet/visualization.py.

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "symbol/infer_shape.h"
#include "symbol/symbol.h"

namespace cooper {

struct PlotOptions {
  std::string title = "plot";
  // Of inputs, by name. Where there are some, edges are labelled with the shapes of what they
  // carry, without the batch axis.
  KnownShapes shapes;
  // Leaves out weights and auxiliary states (variable_role.h has the rules).
  bool hide_weights = true;
  // DOT only: attributes of nodes that replace or join the default ones, such as
  // {"fixedsize", "false"}.
  std::map<std::string, std::string> node_attrs;
};

// Both show names of any characters; what cannot be printed becomes U+FFFD. Neither recurses: deep
// graphs are drawn too. Both fail with kInvalidArgument if shapes contradict each other and with
// kNotFound if they name no variable of the graph.

// Text for Graphviz, `dot -Tpdf net.dot`. Nodes are identified by their names.
absl::StatusOr<std::string> PlotNetworkDot(const Symbol& symbol, const PlotOptions& options = {});

// A picture that needs no other program, laid out in rows (layered_layout.h).
absl::StatusOr<std::string> PlotNetworkSvg(const Symbol& symbol, const PlotOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
