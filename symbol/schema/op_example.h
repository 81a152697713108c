#ifndef COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_
#define COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_

// A call of an operator with which the reference of operators shows its shapes (//tools:ops). Most
// need none: required attributes and shapes are tried. An operator for which that fails, because it
// wants an extent that is a multiple of an attribute, say, has an example beside its schema:
//
//   COOPER_OP_EXAMPLE(depth_to_space, {{"block_size", "2"}}, {{2, 4, 3, 5}});

#include <string>
#include <vector>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct OpExample {
  AttrMap attrs;
  std::vector<PartialShape> inputs;  // {}: it follows from the others
};

// Null if the operator of this name, no alias, has none.
const OpExample* FindOpExample(const std::string& op);

// A second example of one operator is a bug in cooper and ends the program.
struct OpExampleRegistrar {
  OpExampleRegistrar(const char* op, AttrMap attrs, std::vector<PartialShape> inputs);
};

// COOPER_OP_EXAMPLE(op, attributes, shapes of the inputs)
#define COOPER_OP_EXAMPLE(op, ...) \
  static const ::cooper::OpExampleRegistrar cooper_op_example_##op(#op, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_EXAMPLE_H_
