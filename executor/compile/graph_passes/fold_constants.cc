#include "executor/compile/graph_passes/fold_constants.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/compile/graph_passes/graph_rebuilder.h"

namespace cooper {
namespace {

// "transpose{axes=(1, 0)}(fc1_weight)": equal for equal values, whatever the nodes are called.
std::string TextOf(const NodeEntry& entry) {
  const Node& node = *entry.node;
  if (node.is_variable()) return node.name();
  std::vector<std::string> attrs, inputs;
  for (const auto& [name, value] : node.attrs()) {
    if (!absl::StartsWith(name, "__")) attrs.push_back(absl::StrCat(name, "=", value));
  }
  for (const NodeEntry& input : node.inputs()) inputs.push_back(TextOf(input));
  return absl::StrCat(node.op()->name(),
                      attrs.empty() ? "" : absl::StrCat("{", absl::StrJoin(attrs, ", "), "}"), "(",
                      absl::StrJoin(inputs, ", "), ")",
                      node.num_outputs() == 1 ? "" : absl::StrCat("[", entry.index, "]"));
}

// Whether nothing has to be computed for it.
bool IsView(const NodeEntry& entry) {
  const Node* node = entry.node.get();
  while (!node->is_variable() && node->op()->is_view()) node = node->inputs()[0].node.get();
  return node->is_variable();
}

// Whether something reads the entry that does not follow from constants itself.
bool IsUsedOutside(const GraphFacts& facts, const NodeEntry& entry) {
  return absl::c_any_of(facts.uses(entry), [&](const GraphFacts::Use& use) {
    return !facts.is_constant({facts.owner(use.node), 0});
  });
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> FoldConstants(const GraphFacts& facts,
                                                          const CanRunFn& /*can_run*/) {
  if (facts.has_gradients()) return std::nullopt;
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const NodePtr& node = facts.owner(i);
    if (!facts.is_constant({node, 0})) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    // What it is computed from stays in the old graph, of which the expression is a part.
    rebuilder.Keep(i, node->inputs());
    for (int k = 0; k < node->num_outputs(); ++k) {
      const NodeEntry entry{node, k};
      if (IsView(entry) || facts.is_output(entry) || !IsUsedOutside(facts, entry)) continue;
      rebuilder.Fold(entry, TextOf(entry));
      found = true;
    }
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
