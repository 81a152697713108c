#ifndef COOPER_TOOLS_OPS_OP_REFERENCE_H_
#define COOPER_TOOLS_OPS_OP_REFERENCE_H_

// Generates the entries of the operator reference from the linked schemas and kernels, so that they
// are always up to date.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "symbol/schema/op.h"

namespace cooper {

// The entry of an operator.
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
    // Shape and dtype in the call of `shapes`, and the attributes that enable the input: "(2,)
    // int32, with use_length=True". Empty if the input is not optional, or has no shape there.
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
  // Inferred shapes of one valid call: "num_hidden=2: data (2, 3), weight (2, 3), bias (2,) ->
  // output (2, 2)". Empty if no tried call is valid.
  std::string shapes;
  std::string gradient;
  std::vector<std::string> kernels;  // "cpu: float32, float64"
};

// Returns the entry of an operator.
OpEntry DescribeEntry(const OpSchema& op);

// Returns the entries of all linked operators except gradients (_backward_*), sorted by name
// without regard to case; those that MXNet hides, whose names begin with "_", come last.
std::vector<OpEntry> AllEntries();

// Returns an entry as text for a terminal.
std::string EntryText(const OpEntry& entry);

// Returns a self-contained page: a search field, and an entry for each operator.
std::string ReferencePage(const std::vector<OpEntry>& entries);

}  // namespace cooper

#endif  // COOPER_TOOLS_OPS_OP_REFERENCE_H_
