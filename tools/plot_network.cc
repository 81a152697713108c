// Draws a network in MXNet's JSON with Graphviz, or prints it as a table.
//
// plot_network --symbol=net-symbol.json --shapes=data:32,784 --output=- | dot -Tsvg > net.svg
// plot_network --symbol=net-symbol.json --shapes=data:32,784 --summary

#include "symbol/visualization/plot_network.h"

#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/json/json.h"
#include "symbol/visualization/print_summary.h"
#include "tools/program_main.h"
#include "tools/shapes_flag.h"

ABSL_FLAG(std::string, symbol, "", "symbol file, such as net-symbol.json");
ABSL_FLAG(std::string, shapes, "", "shapes of inputs: data:32,10;softmax_label:32,10; ?: unknown");
ABSL_FLAG(std::string, output, "", "DOT file to write, or - for standard output: | dot -Tsvg");
ABSL_FLAG(bool, summary, false, "print the table of layers");
ABSL_FLAG(bool, hide_weights, true, "leave weights and auxiliary states out of the picture");
ABSL_FLAG(std::string, title, "plot", "title of the picture");

namespace cooper {
namespace {

absl::Status CheckFlags() {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (absl::GetFlag(FLAGS_symbol).empty()) {
    return absl::InvalidArgumentError("--symbol=FILE is missing");
  }
  if (output.empty() && !absl::GetFlag(FLAGS_summary)) {
    return absl::InvalidArgumentError("nothing to do: give --output=FILE or --summary");
  }
  if (output == "-" && absl::GetFlag(FLAGS_summary)) {
    return absl::InvalidArgumentError("--output=- and --summary both write to standard output");
  }
  if (output.empty() || output == "-") return absl::OkStatus();
  if (absl::EndsWith(output, ".dot")) return CheckOutputFile("--output=", output);
  return absl::InvalidArgumentError(absl::StrCat("--output=", output,
                                                 ": expected a name that ends in .dot, or - with ",
                                                 "'| dot -Tsvg > net.svg' behind it (Graphviz)"));
}

absl::Status Draw(const Symbol& symbol, const KnownShapes& shapes) {
  const std::string output = absl::GetFlag(FLAGS_output);
  const PlotOptions options = {.title = absl::GetFlag(FLAGS_title),
                               .shapes = shapes,
                               .hide_weights = absl::GetFlag(FLAGS_hide_weights),
                               .node_attrs = {{"fixedsize", "false"}}};  // boxes fit their text
  COOPER_ASSIGN_OR_RETURN(const std::string text, PlotNetworkDot(symbol, options));
  if (output != "-") return WriteFileAtomically(output, text);
  std::cout << text;
  return absl::OkStatus();
}

absl::Status Run() {
  COOPER_RETURN_IF_ERROR(CheckFlags());
  const std::string shapes_text = absl::GetFlag(FLAGS_shapes);
  const auto shapes = ParseShapesFlag(shapes_text);
  if (!shapes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shapes=", shapes_text, ": ", shapes.status().message()));
  }
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(absl::GetFlag(FLAGS_symbol)));
  if (absl::GetFlag(FLAGS_summary)) {
    COOPER_ASSIGN_OR_RETURN(const std::string table, PrintSummary(symbol, *shapes));
    std::cout << table;
  }
  if (!absl::GetFlag(FLAGS_output).empty()) COOPER_RETURN_IF_ERROR(Draw(symbol, *shapes));
  if (!std::cout.flush()) return absl::DataLossError("standard output cannot be written");
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain({.name = "plot_network",
                              .summary = "shows a network in MXNet's JSON as a picture or a table"},
                             argc, argv, cooper::Run);
}
