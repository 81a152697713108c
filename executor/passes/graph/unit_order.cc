#include "executor/passes/graph/unit_order.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cooper {
namespace {

// Visits units and nodes depth first. In this class a number stands for a node that is in no unit,
// or is ~u for unit u.
class Ordering {
 public:
  Ordering(const GraphFacts& facts, absl::Span<const std::vector<int>> units)
      : facts_(facts),
        units_(units),
        unit_of_(facts.graph().num_nodes(), -1),
        node_states_(facts.graph().num_nodes(), kNew),
        unit_states_(units.size(), kNew) {
    for (size_t u = 0; u < units.size(); ++u) {
      for (int node : units[u]) unit_of_[node] = static_cast<int>(u);
    }
  }

  UnitOrder Run() {
    for (const NodeEntry& output : facts_.symbol().outputs()) {
      if (!Visit(NumberOf(facts_.index(output)))) {
        result_.order.clear();
        break;
      }
    }
    return std::move(result_);
  }

 private:
  enum State : char { kNew, kOpen, kDone };

  int NumberOf(int node) const { return unit_of_[node] >= 0 ? ~unit_of_[node] : node; }
  State& StateOf(int number) { return number < 0 ? unit_states_[~number] : node_states_[number]; }

  // Returns false if there is a cycle. Iterative, because graphs may be deep.
  bool Visit(int root) {
    std::vector<int> stack = {root};
    while (!stack.empty()) {
      const int number = stack.back();
      if (StateOf(number) != kNew) {
        stack.pop_back();
        if (StateOf(number) == kOpen) {
          StateOf(number) = kDone;
          result_.order.push_back(number);
        }
        continue;
      }
      StateOf(number) = kOpen;
      std::optional<int> waiting;
      ForEachInput(number, [&](int node) {
        const int from = NumberOf(node);
        if (from == number) return;  // within the unit
        if (StateOf(from) == kOpen) waiting = from;
        if (StateOf(from) == kNew) stack.push_back(from);
      });
      if (waiting.has_value()) {
        FindCycle(stack, *waiting);
        return false;
      }
    }
    return true;
  }

  template <typename Fn>
  void ForEachInput(int number, const Fn& fn) const {
    const auto inputs_of = [&](int node) {
      for (const NodeEntry& input : facts_.node(node).inputs()) fn(facts_.index(input));
    };
    if (number >= 0) return inputs_of(number);
    for (int node : units_[~number]) inputs_of(node);
  }

  // Collects the units of the cycle: the open ones from `first` on. A unit may be on the stack
  // several times, pushed by several users; its last position is the one where it was opened.
  void FindCycle(const std::vector<int>& stack, int first) {
    std::vector<int>& cycle = result_.cycle;
    for (auto it = stack.rbegin(); it != stack.rend(); ++it) {
      const bool is_open_unit = *it < 0 && StateOf(*it) == kOpen;
      if (is_open_unit && std::find(cycle.begin(), cycle.end(), ~*it) == cycle.end()) {
        cycle.push_back(~*it);
      }
      if (*it == first) break;
    }
    std::reverse(cycle.begin(), cycle.end());
  }

  const GraphFacts& facts_;
  const absl::Span<const std::vector<int>> units_;
  std::vector<int> unit_of_;  // by node; -1: in none
  std::vector<State> node_states_;
  std::vector<State> unit_states_;
  UnitOrder result_;
};

}  // namespace

UnitOrder OrderUnits(const GraphFacts& facts, absl::Span<const std::vector<int>> units) {
  return Ordering(facts, units).Run();
}

}  // namespace cooper
