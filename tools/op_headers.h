#ifndef COOPER_TOOLS_OP_HEADERS_H_
#define COOPER_TOOLS_OP_HEADERS_H_

// Which header declares the function of which operator: the table in docs/symbol.md.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

// A table in Markdown, "| `op::FullyConnected` | `symbol/op/nn.h` |", with a row for every function
// of `ops`, aliases too, in order of name whatever its case.
std::string OpHeaderTable(const std::vector<const OpSchema*>& ops);

}  // namespace cooper

#endif  // COOPER_TOOLS_OP_HEADERS_H_
