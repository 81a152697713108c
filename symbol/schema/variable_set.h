#ifndef COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_
#define COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_

// The variables that a node depends on, stored with the node, so that composition finds a second
// variable of the same name in time that does not grow with the graph.

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

class Node;
struct NodeEntry;

// A set of variables in sorted runs. Sets share runs, so a set with a few more variables than
// another needs little memory. Each run is sorted by name, no variable is in two runs, and each run
// is at least twice as long as the next one, so there are O(log size) runs. Holds raw pointers: the
// node that stores the set keeps the variables alive.
struct VariableSet {
  using Run = std::shared_ptr<const std::vector<const Node*>>;

  std::vector<Run> runs;
  size_t size = 0;  // of all runs
};
using VariableSetPtr = std::shared_ptr<const VariableSet>;

// Returns the union over `inputs`. Fails with kInvalidArgument if two different variables have one
// name. Takes time proportional, up to logarithms, to the part of the inputs' sets that the largest
// set lacks, and to the graph above those inputs that have no set.
absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_
