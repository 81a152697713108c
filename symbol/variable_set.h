#ifndef COOPER_SYMBOL_VARIABLE_SET_H_
#define COOPER_SYMBOL_VARIABLE_SET_H_

// The variables that a node depends on, kept with the node so that composing a graph node by node
// finds a second variable of the same name at once and in time that does not grow with the graph.

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

class Node;
struct NodeEntry;

// Ordered by name. Shared between nodes: most nodes of an unrolled network have the same set.
using VariableSet = std::vector<const Node*>;
using VariableSetPtr = std::shared_ptr<const VariableSet>;

// The union over `inputs`. kInvalidArgument if two different variables have one name. Takes time in
// proportion, but for a logarithm, to the inputs' different sets, and to the graph above those
// inputs that were made without one.
absl::StatusOr<VariableSetPtr> UnionOfVariables(const std::vector<NodeEntry>& inputs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VARIABLE_SET_H_
