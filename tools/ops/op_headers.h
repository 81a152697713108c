#ifndef COOPER_TOOLS_OPS_OP_HEADERS_H_
#define COOPER_TOOLS_OPS_OP_HEADERS_H_

// Generates the table in docs/symbol.md of the headers that declare the operators' functions.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

// Returns a table in Markdown, "| `op::FullyConnected` | `symbol/op/nn.h` |", with a row for every
// function of `ops`, including aliases, sorted by name without regard to case.
std::string OpHeaderTable(const std::vector<const OpSchema*>& ops);

}  // namespace cooper

#endif  // COOPER_TOOLS_OPS_OP_HEADERS_H_
