#ifndef COOPER_SYMBOL_OP_OP_DESCRIPTION_H_
#define COOPER_SYMBOL_OP_OP_DESCRIPTION_H_

// What somebody who writes a call of an operator has to know of it, found from its schema: which
// inputs there are, whatever its attributes, and what a function of C++ that calls it looks like.
// The functions of symbol/op and the reference of operators are made from it.

#include <map>
#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

struct OpDescription {
  // As many symbols as are given, without names. The inputs below are empty then.
  bool variadic = false;
  // Inputs that a call names by their position: they are always there, and hold what the operator
  // works on or is nothing without.
  std::vector<std::string> positional;
  // Those that become variables when they are left out (weight, label), and those that only some
  // attributes ask for.
  std::vector<std::string> optional;
  std::vector<std::string> conditional;  // which of `optional` only some attributes ask for
  // The fewest attributes with which each of `optional` is there; of required ones, which have no
  // default, those that name a value of an enumeration.
  std::map<std::string, AttrMap> asked_for_by;
  std::vector<std::string> auxs;  // which of `optional` are auxiliary states
  // With the attributes' defaults; visible ones.
  std::vector<std::string> outputs;
};

// Tries the values of its attributes that may decide on inputs: both of a flag, all of an
// enumeration, two at a time, and small numbers.
OpDescription DescribeOp(const OpSchema& op);

// Where and how C++ calls an operator: `name` in namespace cooper::op or one in it.
struct FunctionName {
  std::string scope;  // "contrib" of _contrib_CTCLoss; else empty
  std::string name;   // without the underscore of hidden names; one behind it if C++ uses the word
  std::string hint;   // what an automatic name begins with: "ctcloss"
};

// Of the name or alias `op`.
FunctionName FunctionNameOf(const std::string& op);

// The name by which the operator's function calls it: where an alias gives the function the same
// name as a hidden name does, the alias, from which MXNet makes automatic names.
std::string CalledName(const OpSchema& op);

// Whether it has a function. Gradients (OpSchema::is_gradient), which no network names, have none.
bool HasFunction(const OpSchema& op);

// The aliases by which C++ can call it too: those that MXNet shows its users.
std::vector<std::string> FunctionAliases(const OpSchema& op);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_OP_DESCRIPTION_H_
