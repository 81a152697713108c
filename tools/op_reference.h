#ifndef COOPER_TOOLS_OP_REFERENCE_H_
#define COOPER_TOOLS_OP_REFERENCE_H_

// What the reference of operators says of each: found from the schemas and kernels that are linked,
// so that it cannot be older than they are.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "symbol/schema/op.h"

namespace cooper {

struct OpEntry {
  struct Attribute {
    std::string name;
    std::string type;    // "int >= 1", "max | avg | sum"
    std::string absent;  // the default, as text; "required"
    std::string meaning;
  };
  struct Input {
    std::string name;
    std::string note;  // "auxiliary state", ...; mostly empty
    // Shape and dtype in the call of `shapes`, and the attributes that ask for it: "(2,) int32,
    // with use_length=True". Empty if the input is not optional, or has no shape there.
    std::string array = {};
  };

  std::string name;
  std::vector<std::string> aliases;
  std::string doc;
  std::string family;    // "nn"
  std::string function;  // "op::FullyConnected(data, {...})"; empty if it has none
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  // Shapes of one call that works, as inferred: "num_hidden=2: data (2, 3), weight (2, 3), bias
  // (2,) -> output (2, 2)". Empty where none of those that are tried does.
  std::string shapes;
  std::string gradient;
  std::vector<std::string> kernels;  // "cpu: float32, float64"
};

OpEntry DescribeEntry(const OpSchema& op);

// Of all operators that are linked, gradients (_backward_*) left out, in order of name whatever its
// case; those that MXNet hides, whose names begin with "_", are last.
std::vector<OpEntry> AllEntries();

// For a terminal.
std::string EntryText(const OpEntry& entry);

// One page without anything from elsewhere: a field to search in, and an entry for each operator.
std::string ReferencePage(const std::vector<OpEntry>& entries);

}  // namespace cooper

#endif  // COOPER_TOOLS_OP_REFERENCE_H_
