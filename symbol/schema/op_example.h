#ifndef COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_
#define COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_

// Example calls for the operator reference (//tools:ops), which shows their shapes. Most operators
// need none: the reference tries attributes and shapes. An operator for which that fails, such as
// one that needs an extent divisible by an attribute, has an example beside its schema:
//
//   COOPER_OP_EXAMPLE(depth_to_space, {{"block_size", "2"}}, {{2, 4, 3, 5}});

#include <string>
#include <vector>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Attributes and input shapes of a valid call.
struct OpExample {
  AttrMap attrs;
  std::vector<PartialShape> inputs;  // {}: inferred from the others
};

// Returns null if the operator of this name (not an alias) has no example.
const OpExample* FindOpExample(const std::string& op);

// Registers an example. A second example of one operator is a bug in cooper and ends the program.
struct OpExampleRegistrar {
  OpExampleRegistrar(const char* op, AttrMap attrs, std::vector<PartialShape> inputs);
};

// COOPER_OP_EXAMPLE(op, attributes, shapes of the inputs)
#define COOPER_OP_EXAMPLE(op, ...) \
  static const ::cooper::OpExampleRegistrar cooper_op_example_##op(#op, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_
