#ifndef COOPER_SYMBOL_OP_FUNCTION_TEXT_H_
#define COOPER_SYMBOL_OP_FUNCTION_TEXT_H_

// Generates the C++ functions that create nodes: a header and its source for a family of operators.
// generate_functions runs it during the build, so a function always agrees with its operator's
// schema; symbol/op/operators.h describes the generated functions to their users.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

// The generated text of a header and of its source.
struct FunctionTexts {
  std::string header;
  std::string source;
};

// Generates the functions of the operators in `ops` that belong to `family` and have a function, in
// their order. `path` is the header's include path. Two functions of one name are a bug in cooper
// and end the program.
FunctionTexts WriteFunctions(const std::vector<const OpSchema*>& ops, const std::string& family,
                             const std::string& path);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_FUNCTION_TEXT_H_
