#ifndef COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_
#define COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_

// Prints a network as a table of its layers, as MXNet's mx.viz.print_summary does, but with every
// parameter counted exactly once. Links no kernel and needs no data.
//
// MXNet: python/mxnet/visualization.py.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// The form of the table, with MXNet's defaults. positions must be four rising numbers.
struct SummaryOptions {
  int line_length = 120;  // characters
  // Right ends of the four columns: fractions of line_length, or characters if the last one exceeds
  // 1.
  std::vector<double> positions = {0.44, 0.64, 0.74, 1.0};
};

// Returns a table with one row per operator and per data input, inputs before users:
//
//   Layer (type)            Output Shape    Param #    Previous Layer
//   fc1(FullyConnected)     128             100480     data
//
// - Output Shape omits the batch axis, and is empty if the shape is unknown. Equal outputs are
//   written once: "8 (4 outputs)".
// - Param # counts the elements of the arrays that no row above has counted: a shared weight is
//   counted in the row of its first user. "?" if a shape is unknown.
// - Previous Layer lists the inputs that are operators or data, one per line.
//
// The total follows and, if there are auxiliary states (a BatchNorm's running mean), the number of
// their elements, which no row counts. The rules in variable_role.h distinguish data and labels
// from parameters: mainly, data are the variables that `shapes` names, and labels those whose name
// ends in "label".
//
// Incomplete or missing `shapes` are no error. Fails with kInvalidArgument if they contradict each
// other or the number of elements of an array overflows, with kNotFound if they name no variable of
// the graph, and with kInvalidArgument for invalid options.
absl::StatusOr<std::string> PrintSummary(const Symbol& symbol, const KnownShapes& shapes = {},
                                         const SummaryOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PRINT_SUMMARY_H_
