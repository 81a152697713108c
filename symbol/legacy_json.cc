#include "symbol/legacy_json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"
#include "symbol/required_input.h"

namespace cooper {
namespace {

constexpr const char* kHiddenKeys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                       "mirror_stage"};

// "lr_mult" -> ("", "lr_mult"), "weight_lr_mult" -> ("weight", "lr_mult"); an empty second text if
// the attribute is no such thing.
std::pair<std::string, std::string> SplitHidden(const std::string& key) {
  for (const std::string hidden : kHiddenKeys) {
    if (key == hidden) return {"", hidden};
    if (absl::EndsWith(key, "_" + hidden) && key.size() > hidden.size() + 2) {
      return {key.substr(0, key.size() - hidden.size() - 1), hidden};
    }
  }
  return {};
}

absl::Status HideAttrs(JsonGraph* graph) {
  for (JsonGraph::Node& node : graph->nodes) {
    AttrMap taken;  // out of the way of the operator's own parameters
    for (auto it = node.attrs.begin(); it != node.attrs.end();) {
      if (SplitHidden(it->first).second.empty()) {
        ++it;
      } else {
        taken.insert(*it);
        it = node.attrs.erase(it);
      }
    }
    if (taken.empty()) continue;
    std::vector<std::string> names;
    absl::flat_hash_map<absl::string_view, size_t> inputs;
    if (!node.is_variable()) {
      COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(node));
      names = call.op->InputNames(call);
      for (size_t i = 0; i < names.size() && i < node.inputs.size(); ++i) {
        inputs.emplace(names[i], i);
      }
    }
    for (const auto& [key, value] : taken) {
      const auto [input, hidden] = SplitHidden(key);
      AttrMap* target = &node.attrs;
      std::string target_key = input.empty() ? absl::StrCat("__", hidden, "__") : key;
      const auto named = input.empty() ? inputs.end() : inputs.find(input);
      if (named != inputs.end()) {
        JsonGraph::Node& variable = graph->nodes[node.inputs[named->second].node];
        if (variable.is_variable()) {
          target = &variable.attrs;
          target_key = absl::StrCat("__", hidden, "__");
        }
      }
      (*target)[target_key] = value;
    }
  }
  return absl::OkStatus();
}

absl::Status AddAuxVariables(JsonGraph* graph) {
  std::vector<JsonGraph::Node> nodes;
  std::vector<int> moved_to;  // the new number of each old node
  for (JsonGraph::Node& node : graph->nodes) {
    for (JsonGraph::Entry& input : node.inputs) input.node = moved_to[input.node];
    if (!node.is_variable()) {
      COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(node));
      const std::vector<std::string> inputs = call.op->InputNames(call);
      for (size_t i = node.inputs.size(); i < inputs.size(); ++i) {
        node.inputs.push_back({.node = static_cast<int>(nodes.size()), .index = 0, .version = 0});
        nodes.push_back(
            {.op = "null",
             .name = node.name.empty() ? inputs[i] : absl::StrCat(node.name, "_", inputs[i]),
             .attrs = node.attrs,
             .inputs = {}});
      }
    }
    moved_to.push_back(static_cast<int>(nodes.size()));
    nodes.push_back(std::move(node));
  }
  for (JsonGraph::Entry& head : graph->heads) head.node = moved_to[head.node];
  graph->nodes = std::move(nodes);
  return absl::OkStatus();
}

absl::Status AddVariableAttrs(JsonGraph* graph) {
  for (JsonGraph::Node& node : graph->nodes) {
    if (node.is_variable()) continue;
    COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(node));
    if (!call.op->variable_attrs()) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      JsonGraph::Node& input = graph->nodes[node.inputs[i].node];
      if (!input.is_variable()) continue;
      AttrMap attrs = call.op->variable_attrs()(call, static_cast<int>(i));
      attrs.erase(kRequiredInput);  // the variable is there
      input.attrs.merge(attrs);
    }
  }
  return absl::OkStatus();
}

void UpgradeOps(JsonGraph* graph) {
  for (JsonGraph::Node& node : graph->nodes) {
    const auto op = FindOp(node.op);  // one that is not linked is reported when its node is made
    if (op.ok() && (*op)->upgrade_attrs()) (*op)->upgrade_attrs()(graph->version, node.attrs);
  }
}

}  // namespace

absl::Status UpgradeJsonGraph(JsonGraph* graph) {
  if (graph->version >= kMXNetVersion) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(HideAttrs(graph));
  if (graph->version < 900) COOPER_RETURN_IF_ERROR(AddAuxVariables(graph));
  if (graph->version < 904) COOPER_RETURN_IF_ERROR(AddVariableAttrs(graph));
  UpgradeOps(graph);
  graph->version = kMXNetVersion;
  return absl::OkStatus();
}

}  // namespace cooper
