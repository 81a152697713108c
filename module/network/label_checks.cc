#include "module/network/label_checks.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/near_names.h"

namespace cooper {
namespace {

// Returns the variable that is the label of a loss, directly or reshaped; null if there is none.
const Node* LabelOf(const Node& node) {
  if (node.is_variable() || !node.op()->IgnoresHeadGradient(node.call())) return nullptr;
  const OpSchema::Names names = node.op()->InputNames(node.call());
  const auto it = absl::c_find(names, "label");
  const size_t i = static_cast<size_t>(it - names.begin());
  if (i >= node.inputs().size()) return nullptr;
  const Node* source = node.inputs()[i].node.get();
  while (!source->is_variable() && source->inputs().size() == 1) {
    source = source->inputs()[0].node.get();
  }
  return source->is_variable() ? source : nullptr;
}

bool LooksLikeParameter(const std::string& name) {
  for (const char* end : {"weight", "bias", "gamma", "beta", "parameters", "state", "state_cell"}) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckLabelNames(const Symbol& symbol, const std::vector<std::string>& args,
                             const ModuleOptions& options, const ModuleBindOptions& bind) {
  if (!bind.for_training) return absl::OkStatus();
  const std::vector<std::string> params = ParamNames(args, options);
  const std::string label_names = JoinNames(options.label_names);
  for (const Node* node : TopologicalOrder(symbol.outputs())) {
    const Node* const label = LabelOf(*node);
    if (label == nullptr || !absl::c_linear_search(params, label->name()) ||
        absl::c_linear_search(options.compute.fixed_param_names, label->name())) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("Bind: '", label->name(), "' is the label of ",
                                                   Describe(*node), ", but not among label_names (",
                                                   label_names, ")"));
  }
  // For a loss composed of other operators, a label under another name is an argument that is
  // neither an input nor named like a parameter.
  std::vector<std::string> unclaimed;
  for (const std::string& name : params) {
    if (!LooksLikeParameter(name)) unclaimed.push_back(name);
  }
  if (unclaimed.empty()) return absl::OkStatus();
  const std::vector<std::string> defaults = ModuleOptions().label_names;
  for (const std::string& name : options.label_names) {
    const bool described =
        absl::c_any_of(bind.label_shapes, [&](const DataDesc& desc) { return desc.name == name; });
    if (absl::c_linear_search(args, name) || (!described && options.label_names == defaults)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("Bind: label_names has '", name,
                     "', which is no argument of the symbol; candidates: ", JoinNames(unclaimed)));
  }
  return absl::OkStatus();
}

absl::Status CheckLabels(const std::vector<std::string>& labels, const std::vector<DataDesc>& bound,
                         bool batch_has_labels) {
  for (const std::string& name : labels) {
    const bool described =
        absl::c_any_of(bound, [&](const DataDesc& desc) { return desc.name == name; });
    if (described && batch_has_labels) continue;
    return absl::InvalidArgumentError(
        described
            ? absl::StrCat("Backward: the batch had no labels, expected ", DescsToString(bound))
            : absl::StrCat(
                  "Backward: the module was bound without label_shapes, expected those of ",
                  JoinNames(labels)));
  }
  return absl::OkStatus();
}

}  // namespace cooper
