#ifndef COOPER_EXECUTOR_COMPILE_PROGRAM_PASSES_PROGRAM_NODE_H_
#define COOPER_EXECUTOR_COMPILE_PROGRAM_PASSES_PROGRAM_NODE_H_

// Nodes that passes add to a program.

#include <string>

#include "symbol/node.h"

namespace cooper {

// A node without inputs or parameters of an operator that every program has. Requires that the
// operator is linked.
NodePtr MakeProgramNode(const char* op, const std::string& name);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PROGRAM_PASSES_PROGRAM_NODE_H_
