#ifndef COOPER_SYMBOL_OP_OP_DESCRIPTION_H_
#define COOPER_SYMBOL_OP_OP_DESCRIPTION_H_

// Derives from a schema the facts that a caller of an operator needs: all inputs that any
// attributes enable, and the form of its C++ function. The functions of symbol/op and the operator
// reference are generated from it.

#include <map>
#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

// The inputs and outputs of an operator, over all values of its attributes.
struct OpDescription {
  // Takes any number of unnamed symbols. The lists of inputs below are then empty.
  bool variadic = false;
  // Inputs passed by position: they are always there and hold the data that the operator works on.
  std::vector<std::string> positional;
  // Inputs that become variables when left out (weight, label), and inputs that only some
  // attributes enable.
  std::vector<std::string> optional;
  std::vector<std::string> conditional;  // inputs of `optional` that only some attributes enable
  // The smallest set of attributes that enables each of `optional`. Required attributes without a
  // default are included if they are enumerations.
  std::map<std::string, AttrMap> required_by;
  std::vector<std::string> auxs;  // the inputs of `optional` that are auxiliary states
  // The visible outputs with default attributes.
  std::vector<std::string> outputs;
};

// Describes an operator. Finds its inputs by trying the values of attributes that may enable some:
// both values of a flag, all values of an enumeration, small numbers, and pairs of these
// attributes.
OpDescription DescribeOp(const OpSchema& op);

// The C++ name of an operator's function: `name` in namespace cooper::op or a namespace in it.
struct FunctionName {
  std::string scope;  // "contrib" of _contrib_CTCLoss; else empty
  std::string name;   // without the underscore of hidden names; one behind it if C++ uses the word
  std::string hint;   // stem of automatic names: "ctcloss"
};

// Returns the function name of the operator name or alias `op`.
FunctionName FunctionNameOf(const std::string& op);

// Returns the operator name that the operator's function uses: an alias if it gives the function
// the same name as a hidden operator name, since MXNet derives automatic names from the alias.
std::string CalledName(const OpSchema& op);

// Returns whether the operator has a generated function. Gradient operators (OpSchema::is_gradient)
// have none, nor do those of the family control, which depend on graphs or functions (those of
// symbol/control make their nodes, or Symbol::Create), and of the family fused, which passes make.
bool HasFunction(const OpSchema& op);

// Returns the aliases that have a function too: those that MXNet exposes to users.
std::vector<std::string> FunctionAliases(const OpSchema& op);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_OP_DESCRIPTION_H_
