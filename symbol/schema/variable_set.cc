#include "symbol/schema/variable_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

bool ByName(const Node* a, const Node* b) {
  return a != b && (a->name() < b->name() || (a->name() == b->name() && a < b));
}

absl::Status OneName(const Node& variable) {
  return absl::InvalidArgumentError(
      absl::StrCat("two different variables are called '", variable.name(),
                   "': use one Symbol for both places, or give them names of their own"));
}

using Variables = std::vector<const Node*>;

// Sorts the variables and removes duplicates. Fails if two different ones share a name.
absl::Status MakeRun(Variables& variables) {
  std::sort(variables.begin(), variables.end(), ByName);
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  const auto same =
      std::adjacent_find(variables.begin(), variables.end(),
                         [](const Node* a, const Node* b) { return a->name() == b->name(); });
  return same == variables.end() ? absl::OkStatus() : OneName(**same);
}

VariableSetPtr SetOf(Variables run) {
  auto set = std::make_shared<VariableSet>();
  set->size = run.size();
  set->runs.push_back(std::make_shared<const Variables>(std::move(run)));
  return set;
}

// Returns the variable of that name, or null.
const Node* FindVariable(const VariableSet& set, const std::string& name) {
  for (const VariableSet::Run& run : set.runs) {
    const auto it =
        std::lower_bound(run->begin(), run->end(), name,
                         [](const Node* node, const std::string& n) { return node->name() < n; });
    if (it != run->end() && (*it)->name() == name) return *it;
  }
  return nullptr;
}

// Appends a run of variables that the set does not contain, merging shorter runs into it.
void AddRun(Variables run, VariableSet* set) {
  set->size += run.size();
  while (!set->runs.empty() && set->runs.back()->size() < 2 * run.size()) {
    const Variables& last = *set->runs.back();
    Variables merged(last.size() + run.size());
    std::merge(last.begin(), last.end(), run.begin(), run.end(), merged.begin(), ByName);
    run = std::move(merged);
    set->runs.pop_back();
  }
  set->runs.push_back(std::make_shared<const Variables>(std::move(run)));
}

// Returns the distinct sets of `inputs`, and one set of the variables that have none: inputs
// themselves, and the variables above nodes without a set (created by a gradient rule or read from
// a file).
absl::StatusOr<std::vector<VariableSetPtr>> SetsOf(const std::vector<NodeEntry>& inputs) {
  constexpr size_t kFew = 8;  // up to this number a linear search is faster
  std::vector<VariableSetPtr> sets;
  absl::flat_hash_set<const VariableSet*> table;
  std::vector<NodeEntry> to_walk;
  Variables others;
  for (const NodeEntry& input : inputs) {
    const VariableSetPtr& set = input.node->fields().variables;
    if (input.node->is_variable()) {
      others.push_back(input.node.get());
    } else if (set == nullptr) {
      to_walk.push_back(input);
    } else if (inputs.size() > kFew ? table.insert(set.get()).second
                                    : std::find(sets.begin(), sets.end(), set) == sets.end()) {
      sets.push_back(set);
    }
  }
  // Walks all of them at once, so that shared nodes are visited once.
  for (const Node* node : TopologicalOrder(to_walk)) {
    if (node->is_variable()) others.push_back(node);
  }
  COOPER_RETURN_IF_ERROR(MakeRun(others));
  if (!others.empty()) sets.push_back(SetOf(std::move(others)));
  return sets;
}

}  // namespace

absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<VariableSetPtr> sets, SetsOf(inputs));
  if (sets.empty()) return std::make_shared<VariableSet>();
  const VariableSetPtr& largest = *std::max_element(
      sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a->size < b->size; });
  absl::flat_hash_set<const Variables*> seen;
  for (const VariableSet::Run& run : largest->runs) seen.insert(run.get());
  Variables added;
  for (const VariableSetPtr& set : sets) {
    for (const VariableSet::Run& run : set->runs) {
      if (!seen.insert(run.get()).second) continue;
      for (const Node* variable : *run) {
        const Node* const known = FindVariable(*largest, variable->name());
        if (known == nullptr) {
          added.push_back(variable);
        } else if (known != variable) {
          return OneName(*variable);
        }
      }
    }
  }
  if (added.empty()) return largest;
  COOPER_RETURN_IF_ERROR(MakeRun(added));
  auto all = std::make_shared<VariableSet>(*largest);
  AddRun(std::move(added), all.get());
  return all;
}

}  // namespace cooper
