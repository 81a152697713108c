#include "symbol/json/merge_variables.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the first variable with each node's name; the node itself where there is no other.
std::vector<int> FirstOfName(const JsonGraph& graph, bool* found) {
  std::vector<int> first(graph.nodes.size());
  absl::flat_hash_map<absl::string_view, int> by_name;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    first[i] = static_cast<int>(i);
    if (!graph.nodes[i].is_variable()) continue;
    first[i] = by_name.emplace(graph.nodes[i].name, static_cast<int>(i)).first->second;
    if (first[i] != static_cast<int>(i)) *found = true;
  }
  return first;
}

enum class Use { kNone, kArgument, kAuxiliaryState };

// Returns how operators use each node. A variable used both ways is an auxiliary state.
absl::StatusOr<std::vector<Use>> FindUses(const JsonGraph& graph) {
  std::vector<Use> uses(graph.nodes.size(), Use::kNone);
  const auto use_as_argument = [&](const JsonGraph::Entry& entry) {
    if (uses[entry.node] == Use::kNone) uses[entry.node] = Use::kArgument;
  };
  for (const JsonGraph::Node& node : graph.nodes) {
    if (node.is_variable()) continue;
    COOPER_ASSIGN_OR_RETURN(const OpCall call, MakeOpCall(node));
    COOPER_RETURN_IF_ERROR(InputNamesOf(node, call).status());
    for (int aux : call.op->AuxInputs(call)) {
      uses[node.inputs[aux].node] = Use::kAuxiliaryState;
    }
  }
  for (const JsonGraph::Node& node : graph.nodes) {
    for (const JsonGraph::Entry& input : node.inputs) use_as_argument(input);
  }
  for (const JsonGraph::Entry& head : graph.heads) use_as_argument(head);
  return uses;
}

}  // namespace

absl::Status MergeVariablesOfOneName(JsonGraph* graph) {
  bool found = false;
  const std::vector<int> first = FirstOfName(*graph, &found);
  if (!found) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(std::vector<Use> uses, FindUses(*graph));
  std::vector<bool> merged(first.size(), false);  // by node: whether others were merged into it
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == static_cast<int>(i)) continue;
    JsonGraph::Node& node = graph->nodes[i];
    Use& use = uses[first[i]];
    if (use == Use::kNone) use = uses[i];
    if (uses[i] != Use::kNone && uses[i] != use) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol file: two different variables are called '", node.name,
                       "', and one of them is an auxiliary state"));
    }
    for (const auto& [key, value] : node.attrs) graph->nodes[first[i]].attrs[key] = value;
    merged[first[i]] = true;
  }
  for (JsonGraph::Node& node : graph->nodes) {
    for (JsonGraph::Entry& input : node.inputs) {
      if (merged[first[input.node]]) input.version = -1;
      input.node = first[input.node];
    }
  }
  for (JsonGraph::Entry& head : graph->heads) head.node = first[head.node];
  return absl::OkStatus();
}

}  // namespace cooper
