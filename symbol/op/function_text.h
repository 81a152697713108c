#ifndef COOPER_SYMBOL_OP_FUNCTION_TEXT_H_
#define COOPER_SYMBOL_OP_FUNCTION_TEXT_H_

// The C++ of the functions that make nodes: a header and its source for a family of operators.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

struct FunctionTexts {
  std::string header;
  std::string source;
};

// Of those of `ops` that belong to `family` and have a function, in their order. `path` is the
// header's, as it is included. A name that two functions would share is a bug in cooper and ends
// the program.
FunctionTexts WriteFunctions(const std::vector<const OpSchema*>& ops, const std::string& family,
                             const std::string& path);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_FUNCTION_TEXT_H_
