#ifndef COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_
#define COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_

// What stands in a node's box, and the box's colour, as the operator's schema has it.

#include <string>

#include "symbol/schema/node.h"

namespace cooper {

struct NodeLabel {
  std::string title;   // the operator, or a variable's name
  std::string detail;  // its main parameters, "5x5/1, 20" of a Convolution; may be empty
  const char* color;   // "#8dd3c7", one for each kind of operator, as MXNet colours them
};

// The texts are printable (printable_text.h).
NodeLabel MakeNodeLabel(const Node& node);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_NODE_LABEL_H_
