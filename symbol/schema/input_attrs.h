#ifndef COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_
#define COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_

// What an operator says of the variables that it reads (OpSchema::VariableAttrsFn).

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// Among those attributes: no variable is made for the input, composition fails where it is missing.
// The value says why it is needed. For operators that have an input only because the caller asked
// for it.
inline constexpr char kRequiredInput[] = "__required_input__";

// That value for input `i`, if it has one.
std::optional<std::string> WhyRequired(const OpCall& call, int i);

// The attributes that a variable for input `i` has, unless it has others of these names: how to
// initialize it, for one.
AttrMap AttrsOfInput(const OpCall& call, int i);

// Calls fn(variable, AttrsOfInput) for the inputs of `node` that are variables and have any. MXNet
// writes them into the variables when it composes; a cooper::Node does not change. Not for a node
// that was read from a file, which says what its variables have.
void ForEachVariableInput(const Node& node,
                          absl::FunctionRef<void(const Node& variable, AttrMap attrs)> fn);

// An operator writes its auxiliary states: kInvalidArgument, naming the input, if one of these
// inputs of a node is to be a state and is no variable.
absl::Status CheckAuxInputs(const OpCall& call, const std::vector<NodeEntry>& inputs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_
