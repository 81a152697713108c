#ifndef COOPER_SYMBOL_VISUALIZATION_DOT_WRITER_H_
#define COOPER_SYMBOL_VISUALIZATION_DOT_WRITER_H_

// A picture as Graphviz's DOT text.

#include <map>
#include <string>

#include "symbol/visualization/network_plot.h"

namespace cooper {

// `node_attrs` are added to every node's attributes and replace what stands there by default. Edges
// run from users to inputs and point back (dir=back), which puts data at the bottom.
std::string WriteDot(const NetworkPlot& plot, const std::string& title,
                     const std::map<std::string, std::string>& node_attrs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_DOT_WRITER_H_
