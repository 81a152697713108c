#include "executor/passes/graph/fold_constants.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"

namespace cooper {
namespace {

// Descriptions of the constants of a graph, computed node by node: graphs may be deep, and share
// subexpressions.
class Expressions {
 public:
  Expressions(const GraphFacts& facts, const CanRunFn& can_run)
      : facts_(facts),
        can_run_(can_run),
        texts_(facts.graph().num_nodes()),
        views_(facts.graph().num_nodes()) {
    for (int i = 0; i < facts.graph().num_nodes(); ++i) {
      if (facts.is_constant({facts.owner(i), 0})) Describe(i);
    }
  }

  // Returns a description such as "transpose{axes=(1, 0)}(fc1_weight)", equal for equal values,
  // whatever the names of nodes. Empty if it would be too long, or if an operator has no kernel.
  const std::string& text(int node) const { return texts_[node]; }
  // Returns whether its outputs need no computation.
  bool is_view(int node) const { return views_[node]; }

 private:
  // The limit for a text, and so for the texts built from it: in a graph with shared subexpressions
  // texts may double from node to node.
  static constexpr size_t kMaxText = 1024;

  void Describe(int i) {
    const Node& node = facts_.node(i);
    views_[i] =
        node.is_variable() || (node.op()->is_view() && views_[facts_.index(node.inputs()[0])]);
    if (node.is_variable()) {
      texts_[i] = node.name().size() <= kMaxText ? node.name() : "";
      return;
    }
    if (!can_run_(node.op()->name())) return;
    std::string text = node.op()->name();
    for (const auto& [name, value] : node.attrs()) {
      if (!absl::StartsWith(name, "__")) absl::StrAppend(&text, "{", name, "=", value, "}");
    }
    const char* before = "(";
    for (const NodeEntry& input : node.inputs()) {
      const std::string& of_input = texts_[facts_.index(input)];
      if (of_input.empty() || text.size() > kMaxText) return;
      absl::StrAppend(&text, before, of_input);
      if (input.node->num_outputs() > 1) absl::StrAppend(&text, "[", input.index, "]");
      before = ", ";
    }
    text += ")";
    if (text.size() <= kMaxText) texts_[i] = std::move(text);
  }

  const GraphFacts& facts_;
  const CanRunFn& can_run_;
  std::vector<std::string> texts_;  // by node
  std::vector<bool> views_;
};

// Returns whether a node that does not depend on constants only reads the entry.
bool IsUsedOutside(const GraphFacts& facts, const NodeEntry& entry) {
  return absl::c_any_of(facts.uses(entry), [&](const GraphFacts::Use& use) {
    return !facts.is_constant({facts.owner(use.node), 0});
  });
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> FoldConstants(const GraphFacts& facts,
                                                          const CanRunFn& can_run) {
  if (facts.has_gradients()) return std::nullopt;
  const Expressions expressions(facts, can_run);
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const NodePtr& node = facts.owner(i);
    if (!facts.is_constant({node, 0})) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    // The nodes that compute it stay in the old graph, of which the expression is a part.
    rebuilder.Keep(i, node->inputs());
    const std::string& text = expressions.text(i);
    if (expressions.is_view(i) || text.empty()) continue;
    for (int k = 0; k < node->num_outputs(); ++k) {
      const NodeEntry entry{node, k};
      if (facts.is_output(entry) || !IsUsedOutside(facts, entry)) continue;
      rebuilder.Fold(entry, node->num_outputs() == 1 ? text : absl::StrCat(text, "[", k, "]"));
      found = true;
    }
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
