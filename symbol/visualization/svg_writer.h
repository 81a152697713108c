#ifndef COOPER_SYMBOL_VISUALIZATION_SVG_WRITER_H_
#define COOPER_SYMBOL_VISUALIZATION_SVG_WRITER_H_

// A picture as SVG, laid out here: no other program and no file is needed to look at it.

#include <string>

#include "symbol/visualization/network_plot.h"

namespace cooper {

// Several inputs from one node are one line. A node's name and attributes stand in its <title>,
// which browsers show under the pointer.
std::string WriteSvg(const NetworkPlot& plot, const std::string& title);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_SVG_WRITER_H_
