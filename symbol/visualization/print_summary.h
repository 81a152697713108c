#ifndef COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_
#define COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_

// A network as a table of its layers, as MXNet's mx.viz.print_summary prints it, but with every
// parameter counted, and counted once. Links no kernel and needs no data.
//
// MXNet: python/mxnet/visualization.py.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

struct SummaryOptions {
  int line_length = 120;  // characters
  // Where the four columns end: shares of line_length, or characters if the last one exceeds 1.
  std::vector<double> positions = {0.44, 0.64, 0.74, 1.0};
};

// One row per operator and per data input, inputs before users:
//
//   Layer (type)            Output Shape    Param #    Previous Layer
//   fc1(FullyConnected)     128             100480     data
//
// - Output Shape leaves the batch axis out, and is empty where nothing is known. Equal outputs are
//   written once: "8 (4 outputs)".
// - Param # counts the elements of the arrays that no row above has counted: a weight that several
//   layers share stands in the row of its first user. "?" where a shape is not known.
// - Previous Layer lists the inputs that are operators or data, a line each.
//
// Below stand the total and, where there are auxiliary states (a BatchNorm's running mean), their
// elements, which no row counts. Which variables are data or labels rather than parameters is
// decided by the rules in variable_role.h: mainly, data are those that `shapes` names, and labels
// those whose name ends in "label".
//
// Incomplete `shapes`, or none, are no error. Fails with kInvalidArgument if they contradict each
// other or an array has more elements than can be counted, with kNotFound if they name no variable
// of the graph, and with kInvalidArgument for options that make no table.
absl::StatusOr<std::string> PrintSummary(const Symbol& symbol, const KnownShapes& shapes = {},
                                         const SummaryOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_
