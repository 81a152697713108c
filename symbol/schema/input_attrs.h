#ifndef COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_
#define COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_

// Attributes that an operator gives to the variables of its inputs (OpSchema::VariableAttrsFn).

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// If this key is among the attributes, no variable is created for the input, and composition fails
// if it is missing. The value of the attribute says why the input is needed. For inputs that exist
// only because the caller enabled them.
inline constexpr char kRequiredInput[] = "__required_input__";

// Returns the value of kRequiredInput for input `i`, if it has one.
std::optional<std::string> RequiredReason(const OpCall& call, int i);

// Returns the default attributes of a variable for input `i`, such as its initializer. An attribute
// that the variable has already takes precedence.
AttrMap AttrsOfInput(const OpCall& call, int i);

// Calls fn(variable, AttrsOfInput) for the inputs of `node` that are variables with default
// attributes. MXNet writes these into the variables during composition; a cooper::Node is
// immutable. Does nothing for a node from a symbol file, whose variables are complete.
void ForEachVariableInput(const Node& node,
                          absl::FunctionRef<void(const Node& variable, AttrMap attrs)> fn);

// Fails with kInvalidArgument, naming the input, if an input that is an auxiliary state is no
// variable: the operator writes it.
absl::Status CheckAuxInputs(const OpCall& call, const std::vector<NodeEntry>& inputs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_INPUT_ATTRS_H_
