#include "symbol/schema/input_attrs.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cooper {

std::optional<std::string> RequiredReason(const OpCall& call, int i) {
  if (!call.op->variable_attrs()) return std::nullopt;
  const AttrMap attrs = call.op->variable_attrs()(call, i);
  const auto reason = attrs.find(kRequiredInput);
  if (reason == attrs.end()) return std::nullopt;
  return reason->second;
}

AttrMap AttrsOfInput(const OpCall& call, int i) {
  if (!call.op->variable_attrs()) return {};
  AttrMap attrs = call.op->variable_attrs()(call, i);
  attrs.erase(kRequiredInput);
  return attrs;
}

void ForEachVariableInput(const Node& node,
                          absl::FunctionRef<void(const Node& variable, AttrMap attrs)> fn) {
  if (node.is_variable() || !node.op()->variable_attrs()) return;
  if (node.fields().input_versions.has_value()) return;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Node& input = *node.inputs()[i].node;
    if (!input.is_variable()) continue;
    AttrMap attrs = AttrsOfInput(node.call(), static_cast<int>(i));
    if (!attrs.empty()) fn(input, std::move(attrs));
  }
}

absl::Status CheckAuxInputs(const OpCall& call, const std::vector<NodeEntry>& inputs) {
  for (int aux : call.op->AuxInputs(call)) {
    const Node& input = *inputs[aux].node;
    if (input.is_variable()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", call.op->InputNames(call)[aux],
        "' is an auxiliary state: expected a variable, but ", Describe(input), " came"));
  }
  return absl::OkStatus();
}

}  // namespace cooper
