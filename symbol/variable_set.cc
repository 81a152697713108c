#include "symbol/variable_set.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "symbol/node.h"

namespace cooper {
namespace {

bool ByName(const Node* a, const Node* b) {
  return a != b && (a->name() < b->name() || (a->name() == b->name() && a < b));
}

// A node made without a set (by a gradient rule, say) is walked.
VariableSetPtr VariablesOf(const NodePtr& node) {
  if (node->fields().variables != nullptr) return node->fields().variables;
  auto set = std::make_shared<VariableSet>();
  for (const Node* n : TopologicalOrder({{node, 0}})) {
    if (n->is_variable()) set->push_back(n);
  }
  std::sort(set->begin(), set->end(), ByName);
  return set;
}

}  // namespace

absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs) {
  VariableSetPtr all;
  for (const NodeEntry& input : inputs) {
    VariableSetPtr set = VariablesOf(input.node);
    if (all == nullptr || all == set) {
      all = std::move(set);
      continue;
    }
    if (all->size() < set->size()) std::swap(all, set);
    if (std::includes(all->begin(), all->end(), set->begin(), set->end(), ByName)) continue;
    auto merged = std::make_shared<VariableSet>();
    std::set_union(all->begin(), all->end(), set->begin(), set->end(), std::back_inserter(*merged),
                   ByName);
    for (size_t i = 1; i < merged->size(); ++i) {
      if ((*merged)[i - 1]->name() != (*merged)[i]->name()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("two different variables are called '", (*merged)[i]->name(),
                       "': use one Symbol for both places, or give them names of their own"));
    }
    all = std::move(merged);
  }
  return all == nullptr ? std::make_shared<VariableSet>() : all;
}

}  // namespace cooper
