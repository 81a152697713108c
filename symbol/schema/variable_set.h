#ifndef COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_
#define COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_

// The variables that a node depends on, kept with the node so that composing a graph node by node
// finds a second variable of the same name at once and in time that does not grow with the graph.

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

class Node;
struct NodeEntry;

// In runs that sets share, so that a set which has a little more than another takes a little more
// memory. Each is ordered by name, no variable is in two of them, and each is at least twice as
// long as the next one.
struct VariableSet {
  using Run = std::shared_ptr<const std::vector<const Node*>>;

  std::vector<Run> runs;
  size_t size = 0;  // of all runs
};
using VariableSetPtr = std::shared_ptr<const VariableSet>;

// The union over `inputs`. kInvalidArgument if two different variables have one name. Takes time in
// proportion, but for logarithms, to what the inputs' sets do not share with the largest of them,
// and to the graph above those inputs that were made without one.
absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_VARIABLE_SET_H_
