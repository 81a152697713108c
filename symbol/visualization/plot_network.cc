#include "symbol/visualization/plot_network.h"

#include "ndarray/status_macros.h"
#include "symbol/visualization/dot_writer.h"
#include "symbol/visualization/network_plot.h"
#include "symbol/visualization/svg_writer.h"

namespace cooper {

absl::StatusOr<std::string> PlotNetworkDot(const Symbol& symbol, const PlotOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const NetworkPlot plot,
                          MakeNetworkPlot(symbol, options.shapes, options.hide_weights));
  return WriteDot(plot, options.title, options.node_attrs);
}

absl::StatusOr<std::string> PlotNetworkSvg(const Symbol& symbol, const PlotOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const NetworkPlot plot,
                          MakeNetworkPlot(symbol, options.shapes, options.hide_weights));
  return WriteSvg(plot, options.title);
}

}  // namespace cooper
