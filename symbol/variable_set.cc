#include "symbol/variable_set.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"
#include "symbol/node.h"

namespace cooper {
namespace {

bool ByName(const Node* a, const Node* b) {
  return a != b && (a->name() < b->name() || (a->name() == b->name() && a < b));
}

absl::Status CheckNames(const VariableSet& set) {
  const auto same = std::adjacent_find(
      set.begin(), set.end(), [](const Node* a, const Node* b) { return a->name() == b->name(); });
  if (same == set.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("two different variables are called '", (*same)->name(),
                   "': use one Symbol for both places, or give them names of their own"));
}

void SortSet(VariableSet* set) {
  std::sort(set->begin(), set->end(), ByName);
  set->erase(std::unique(set->begin(), set->end()), set->end());
}

// The different sets of `inputs`, and one of the variables that have none: inputs themselves, and
// those above nodes that were made without a set (by a gradient rule, or read from a file).
absl::StatusOr<std::vector<VariableSetPtr>> SetsOf(const std::vector<NodeEntry>& inputs) {
  constexpr size_t kFew = 8;  // so many are found without a table
  std::vector<VariableSetPtr> sets;
  absl::flat_hash_set<const VariableSet*> table;
  std::vector<NodeEntry> to_walk;
  auto others = std::make_shared<VariableSet>();
  for (const NodeEntry& input : inputs) {
    const VariableSetPtr& set = input.node->fields().variables;
    if (input.node->is_variable()) {
      others->push_back(input.node.get());
    } else if (set == nullptr) {
      to_walk.push_back(input);
    } else if (inputs.size() > kFew ? table.insert(set.get()).second
                                    : std::find(sets.begin(), sets.end(), set) == sets.end()) {
      sets.push_back(set);
    }
  }
  // All at once: what they share is walked once.
  for (const Node* node : TopologicalOrder(to_walk)) {
    if (node->is_variable()) others->push_back(node);
  }
  SortSet(others.get());
  COOPER_RETURN_IF_ERROR(CheckNames(*others));
  if (!others->empty()) sets.push_back(std::move(others));
  return sets;
}

// In whichever way takes fewer comparisons.
bool Includes(const VariableSet& all, const VariableSet& part) {
  if (part.size() * static_cast<size_t>(std::bit_width(all.size())) > all.size()) {
    return std::includes(all.begin(), all.end(), part.begin(), part.end(), ByName);
  }
  return std::all_of(part.begin(), part.end(), [&](const Node* variable) {
    return std::binary_search(all.begin(), all.end(), variable, ByName);
  });
}

}  // namespace

absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<VariableSetPtr> sets, SetsOf(inputs));
  if (sets.empty()) return std::make_shared<VariableSet>();
  const VariableSetPtr& largest = *std::max_element(
      sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a->size() < b->size(); });
  std::shared_ptr<VariableSet> all;  // null: the largest one is all
  for (const VariableSetPtr& set : sets) {
    if (set == largest || Includes(*largest, *set)) continue;
    if (all == nullptr) all = std::make_shared<VariableSet>(*largest);
    all->insert(all->end(), set->begin(), set->end());
  }
  if (all == nullptr) return largest;
  SortSet(all.get());
  COOPER_RETURN_IF_ERROR(CheckNames(*all));
  return all;
}

}  // namespace cooper
