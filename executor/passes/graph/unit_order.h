#ifndef COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_

// In which order a graph can be made anew when sets of its nodes, the units, become one node each.

#include <vector>

#include "absl/types/span.h"
#include "executor/passes/graph/graph_facts.h"

namespace cooper {

struct UnitOrder {
  // Nodes that are in no unit, and ~u for unit u, each after everything that it uses.
  std::vector<int> order;
  // Where there is no such order: units of which each waits for the next one, and the last one for
  // the first.
  std::vector<int> cycle;
};

// `units` are disjoint sets of nodes.
UnitOrder OrderUnits(const GraphFacts& facts, absl::Span<const std::vector<int>> units);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_UNIT_ORDER_H_
