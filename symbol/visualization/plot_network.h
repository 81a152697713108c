#ifndef COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
#define COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_

// A network as a picture, as MXNet's mx.viz.plot_network draws it: a box per operator with its name
// and main parameters, coloured by kind, an oval per input, data at the bottom, arrows from inputs
// to users. Graphviz lays it out. Links no kernel and needs no data.
//
// MXNet: python/mxnet/visualization.py.

#include <string>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/attr_values.h"

namespace cooper {

struct PlotOptions {
  std::string title = "plot";
  // Of inputs, by name. Where there are some, edges are labelled with the shapes of what they
  // carry, without the batch axis.
  KnownShapes shapes;
  // Leaves out weights and auxiliary states (variable_role.h has the rules).
  bool hide_weights = true;
  // Graphviz's attributes of nodes, which replace or join MXNet's: with {"fixedsize", "false"}
  // boxes grow with their text.
  AttrValues node_attrs;
};

// Text for Graphviz, `dot -Tsvg net.dot`. Nodes are identified by their names, which may be of any
// characters; what cannot be printed becomes U+FFFD, and operators of one name are numbered. The
// attributes of a node are its tooltip. Does not recurse: deep graphs are drawn too.
//
// Fails with kInvalidArgument if shapes contradict each other and with kNotFound if they name no
// variable of the graph.
absl::StatusOr<std::string> PlotNetworkDot(const Symbol& symbol, const PlotOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PLOT_NETWORK_H_
