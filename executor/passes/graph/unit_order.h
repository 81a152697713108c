#ifndef COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_

// Orders the nodes of a graph when disjoint sets of them, the units, become one node each.

#include <vector>

#include "absl/types/span.h"
#include "executor/passes/graph/graph_facts.h"

namespace cooper {

// An order in which a graph can be rebuilt, or the reason why there is none.
struct UnitOrder {
  // Nodes that are in no unit, and ~u for unit u, each after all that it depends on.
  std::vector<int> order;
  // If there is no such order: units of which each depends on the next one, and the last one on the
  // first.
  std::vector<int> cycle;
};

// Returns an order, or a cycle. `units` are disjoint sets of nodes.
UnitOrder OrderUnits(const GraphFacts& facts, absl::Span<const std::vector<int>> units);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_
