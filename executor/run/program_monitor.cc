#include "executor/run/program_monitor.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/program/program.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using Callback = std::function<void(const std::string& name, const NDArray& array)>;

// Returns "fc1_data" for a forward node. The outputs of a gradient node have names such as
// "fc1_backward_data", so its inputs are "fc1_backward_input_data" (MXNet's "fc1_backward_input1").
std::string InputName(const Node& node, const std::string& input) {
  return absl::StrCat(node.name(), node.forward() == nullptr ? "_" : "_input_", input);
}

void Report(const ProgramSteps& steps, const std::string& name, int value,
            const Callback& callback) {
  const auto array = steps.ArrayOf(value);
  if (array.ok()) callback(name, *array);
}

// Returns whether the last instruction before i with the output `value` writes it; true if there is
// none, as for the caller's arrays. A value that is read for its shape alone has the request kNull.
bool IsWritten(const Program& program, int value, int i) {
  while (--i >= 0) {
    const Instruction& earlier = program.instructions[i];
    const auto it = absl::c_find(earlier.outputs, value);
    if (it == earlier.outputs.end()) continue;
    return earlier.reqs[static_cast<size_t>(it - earlier.outputs.begin())] != WriteReq::kNull;
  }
  return true;
}

}  // namespace

ProgramObserver MonitorOf(Callback callback, bool monitor_all) {
  ProgramObserver observer;
  if (monitor_all) {
    observer.before = [callback](const ProgramSteps& steps, int i) {
      const Instruction& instruction = steps.program().instructions[i];
      const auto names = instruction.node->op()->InputNames(instruction.node->call());
      for (size_t k = 0; k < instruction.inputs.size() && k < names.size(); ++k) {
        if (!IsWritten(steps.program(), instruction.inputs[k], i)) continue;
        Report(steps, InputName(*instruction.node, names[k]), instruction.inputs[k], callback);
      }
    };
  }
  observer.after = [callback = std::move(callback)](const ProgramSteps& steps, int i) {
    const Instruction& instruction = steps.program().instructions[i];
    std::vector<NodeEntry> entries;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      entries.push_back({instruction.node, static_cast<int>(k)});
    }
    const std::vector<std::string> names = OutputNames(entries);
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] == WriteReq::kNull) continue;
      Report(steps, names[k], instruction.outputs[k], callback);
    }
  };
  return observer;
}

}  // namespace cooper
