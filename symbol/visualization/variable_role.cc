#include "symbol/visualization/variable_role.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "absl/strings/match.h"

namespace cooper {
namespace {

// Counts how operators use a variable.
struct Uses {
  int num_uses = 0;
  int num_weights = 0;
  int num_labels = 0;

  bool only_weights() const { return num_uses > 0 && num_weights == num_uses; }
};

bool IsWeightInput(const std::string& name) {
  static constexpr const char* kNames[] = {"weight", "bias", "gamma", "beta", "parameters"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool IsLabelInput(const std::string& name) {
  return name == "label" || absl::EndsWith(name, "length") || absl::EndsWith(name, "lengths");
}

bool HasWeightName(const std::string& name) {
  static constexpr const char* kEndings[] = {"_weight", "_bias", "_gamma", "_beta", "_parameters"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](const char* ending) { return absl::EndsWith(name, ending); });
}

std::vector<Uses> FindUses(const IndexedGraph& graph) {
  std::vector<Uses> uses(graph.num_nodes());
  for (const Node* node : graph.nodes()) {
    if (node->is_variable()) continue;
    const OpSchema::Names names = node->op()->InputNames(node->call());
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Uses& u = uses[graph.node_index(node->inputs()[i].node.get())];
      ++u.num_uses;
      if (i >= names.size()) continue;
      u.num_weights += IsWeightInput(names[i]);
      u.num_labels += IsLabelInput(names[i]);
    }
  }
  return uses;
}

VariableRole RoleOf(const Node& variable, const Uses& uses, const KnownShapes& shapes) {
  const std::string& name = variable.name();
  if (uses.num_labels > 0 || absl::EndsWith(name, "label")) return VariableRole::kLabel;
  if (uses.only_weights()) return VariableRole::kParameter;
  if (name == "data" || shapes.contains(name)) return VariableRole::kData;
  if (!shapes.empty() || HasWeightName(name)) return VariableRole::kParameter;
  return VariableRole::kData;
}

}  // namespace

std::vector<VariableRole> VariableRoles(const IndexedGraph& graph, const KnownShapes& shapes) {
  const std::vector<Uses> uses = FindUses(graph);
  std::vector<VariableRole> roles(graph.num_nodes(), VariableRole::kData);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (!node.is_variable()) continue;
    roles[i] = graph.is_aux(i) ? VariableRole::kAuxiliary : RoleOf(node, uses[i], shapes);
  }
  return roles;
}

}  // namespace cooper
