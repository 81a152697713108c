#include "symbol/json/legacy_json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/hidden_attrs.h"
#include "symbol/schema/input_attrs.h"

namespace cooper {
namespace {

// Splits "lr_mult" into ("", "lr_mult") and "weight_lr_mult" into ("weight", "lr_mult"); the second
// text is empty for other attributes.
std::pair<std::string, std::string> SplitHidden(const std::string& key) {
  for (const std::string hidden : kHiddenKeys) {
    if (key == hidden) return {"", hidden};
    if (absl::EndsWith(key, "_" + hidden) && key.size() >= hidden.size() + 2) {
      return {key.substr(0, key.size() - hidden.size() - 1), hidden};
    }
  }
  return {};
}

// Counts the variables for inputs that a file leaves out before they are created: a few bytes may
// request thousands, each with the name and the attributes of its operator.
class AddedVariables {
 public:
  AddedVariables(const JsonGraph& graph, const LoadLimits& limits)
      : limits_(limits), nodes_(static_cast<int64_t>(graph.nodes.size())) {}

  // Fails with kResourceExhausted, naming `node` and the limit, if the variables of `node` exceed a
  // limit.
  absl::Status Count(const JsonGraph::Node& node, const OpSchema::Names& inputs) {
    if (node.inputs.size() >= inputs.size()) return absl::OkStatus();
    const auto missing = static_cast<int64_t>(inputs.size() - node.inputs.size());
    size_t bytes_each = node.name.size();
    for (const auto& [key, value] : node.attrs) bytes_each += key.size() + value.size();
    nodes_ += missing;
    bytes_ += missing * static_cast<int64_t>(bytes_each);
    values_ += missing * static_cast<int64_t>(2 * node.attrs.size());
    if (nodes_ > limits_.nodes) return Exceeds(node, limits_.nodes, "nodes", "nodes");
    if (bytes_ > limits_.text_bytes) {
      return Exceeds(node, limits_.text_bytes, "bytes", "text_bytes");
    }
    if (values_ > limits_.values) return Exceeds(node, limits_.values, "values", "values");
    return absl::OkStatus();
  }

 private:
  static absl::Status Exceeds(const JsonGraph::Node& node, int64_t limit, absl::string_view what,
                              absl::string_view of) {
    return absl::ResourceExhaustedError(
        absl::StrCat("symbol file: ", node.op, " '", node.name,
                     "': with variables for the inputs that it lacks there are more than ", limit,
                     " ", what, ": LoadLimits::", of));
  }

  const LoadLimits& limits_;
  int64_t nodes_;  // including those of the file
  int64_t bytes_ = 0;
  int64_t values_ = 0;
};

absl::Status HideAttrs(const LoadLimits& limits, JsonGraph* graph) {
  AddedVariables added(*graph, limits);
  for (JsonGraph::Node& node : graph->nodes) {
    AttrMap taken;  // hidden attributes, removed before the operator's parameters are parsed
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
      COOPER_RETURN_IF_ERROR(added.Count(node, names));
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

// Adds variables for all missing inputs, as MXNet does, not for auxiliary states alone.
absl::Status AddAuxVariables(const LoadLimits& limits, JsonGraph* graph) {
  AddedVariables added(*graph, limits);
  std::vector<JsonGraph::Node> nodes;
  std::vector<int> moved_to;  // the new number of each old node
  for (JsonGraph::Node& node : graph->nodes) {
    for (JsonGraph::Entry& input : node.inputs) input.node = moved_to[input.node];
    if (!node.is_variable()) {
      COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(node));
      const std::vector<std::string> inputs = call.op->InputNames(call);
      COOPER_RETURN_IF_ERROR(added.Count(node, inputs));
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
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      JsonGraph::Node& input = graph->nodes[node.inputs[i].node];
      if (!input.is_variable()) continue;
      AttrMap attrs = AttrsOfInput(call, static_cast<int>(i));
      input.attrs.merge(attrs);
    }
  }
  return absl::OkStatus();
}

absl::Status UpgradeOps(JsonGraph* graph) {
  for (JsonGraph::Node& node : graph->nodes) {
    if (node.is_variable()) continue;
    COOPER_ASSIGN_OR_RETURN(const OpSchema* op,
                            AddContext(FindOp(node.op), node.op, " '", node.name, "'"));
    if (op->upgrade_attrs()) op->upgrade_attrs()(graph->version, node.attrs);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UpgradeJsonGraph(const LoadLimits& limits, JsonGraph* graph) {
  if (graph->version >= kMXNetVersion) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(HideAttrs(limits, graph));
  if (graph->version < 900) COOPER_RETURN_IF_ERROR(AddAuxVariables(limits, graph));
  if (graph->version < 904) COOPER_RETURN_IF_ERROR(AddVariableAttrs(graph));
  COOPER_RETURN_IF_ERROR(UpgradeOps(graph));
  graph->version = kMXNetVersion;
  return absl::OkStatus();
}

}  // namespace cooper
