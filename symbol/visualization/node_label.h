#ifndef COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_
#define COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_

// The text and the colour of a node's box, from the operator's schema (OpSchema::Kind and Summary).
// plot_network.cc draws it.

#include <string>

#include "symbol/schema/node.h"

namespace cooper {

struct NodeLabel {
  std::string title;   // the operator, or a variable's name
  std::string detail;  // its main parameters, "5x5/1, 20" of a Convolution; may be empty
  const char* color;   // "#8dd3c7": MXNet's colour for the kind of operator
};

// Returns the label of a node. Its texts are printable (printable_text.h); `color` is a static
// string.
NodeLabel MakeNodeLabel(const Node& node);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_
