// Plans the memory of a network in MXNet's JSON: offsets over steps, the values at the peak, and
// the memory saved by sharing.
//
// plot_memory --symbol=net-symbol.json --shapes="data:32,784;softmax_label:32" --json=memory.json
// python3 tools/charts.py memory.json -o memory.html: draws the plan.

#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/json/json.h"
#include "tools/memory_plan_json.h"
#include "tools/program_main.h"
#include "tools/shapes_flag.h"

ABSL_FLAG(std::string, symbol, "", "symbol file, such as net-symbol.json");
ABSL_FLAG(std::string, shapes, "", "shapes of inputs: data:32,10;softmax_label:32");
ABSL_FLAG(std::string, json, "", "file for the plan, which tools/charts.py draws");
ABSL_FLAG(bool, training, true, "with the gradients of all arguments but those in --shapes");

namespace cooper {
namespace {

absl::Status Run() {
  const std::string path = absl::GetFlag(FLAGS_symbol), output = absl::GetFlag(FLAGS_json);
  if (path.empty()) return absl::InvalidArgumentError("--symbol=FILE is missing");
  COOPER_RETURN_IF_ERROR(CheckOutputFile("--json=", output));
  const std::string shapes_text = absl::GetFlag(FLAGS_shapes);
  const auto shapes = ParseShapesFlag(shapes_text);
  if (!shapes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shapes=", shapes_text, ": ", shapes.status().message()));
  }
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(path));
  BindOptions options;
  options.shapes = *shapes;
  options.grad_req = absl::GetFlag(FLAGS_training) ? WriteReq::kWrite : WriteReq::kNull;
  for (const auto& [name, shape] : *shapes) options.grad_reqs[name] = WriteReq::kNull;
  COOPER_ASSIGN_OR_RETURN(const auto compiled, Executor::Compile(symbol, options));
  const PlacedMemory memory = PlacedMemoryOf(*compiled);
  if (!output.empty()) {
    COOPER_RETURN_IF_ERROR(WriteFileAtomically(output, MemoryPlanJson(path, memory)));
  }
  std::cout << memory.arena_bytes << " bytes for " << memory.values.size() << " values\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain(
      {.name = "plot_memory", .summary = "plans the memory of a network in MXNet's JSON"}, argc,
      argv, cooper::Run);
}
