#ifndef COOPER_SYMBOL_SCHEMA_IS_OP_H_
#define COOPER_SYMBOL_SCHEMA_IS_OP_H_

// A test for graph passes and tools that look for certain operators.

#include "absl/strings/string_view.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns whether the node is a call of the operator that symbol files know by this name; an alias
// does not match. False for variables.
inline bool IsOp(const Node& node, absl::string_view name) {
  return !node.is_variable() && node.op()->name() == name;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_IS_OP_H_
