#ifndef COOPER_SYMBOL_REQUIRED_INPUT_H_
#define COOPER_SYMBOL_REQUIRED_INPUT_H_

// For operators that have an input only because the caller asked for it.

#include <optional>
#include <string>

#include "symbol/op.h"

namespace cooper {

// Among the attributes that OpSchema::VariableAttrsFn gives an input: no variable is made for it,
// composition fails where it is missing. The value says why it is needed.
inline constexpr char kRequiredInput[] = "__required_input__";

// That value for input `i`, if it has one.
std::optional<std::string> WhyRequired(const OpCall& call, int i);

}  // namespace cooper

#endif  // COOPER_SYMBOL_REQUIRED_INPUT_H_
