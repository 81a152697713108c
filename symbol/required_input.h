#ifndef COOPER_SYMBOL_REQUIRED_INPUT_H_
#define COOPER_SYMBOL_REQUIRED_INPUT_H_

// For operators that have an input only because the caller asked for it.

namespace cooper {

// Among the attributes that OpSchema::VariableAttrsFn gives an input: no variable is made for it,
// composition fails where it is missing. The value says why it is needed.
inline constexpr char kRequiredInput[] = "__required_input__";

}  // namespace cooper

#endif  // COOPER_SYMBOL_REQUIRED_INPUT_H_
