#ifndef COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_
#define COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_

// How many floating-point operations the products and convolutions of an operator take, a
// multiplication and an addition being two. An operator that has any says so in a file of its
// folder, apart from its schema, for which nobody has to link it:
//
//   COOPER_OP_FLOPS(dot, [](const OpWork& work) { return 2.0 * ...; });
//
// All others write (or, reductions, read) elements one by one, which is counted without a rule.

#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// A call with the shapes of its arrays.
struct OpWork {
  const OpCall& call;
  absl::Span<const Shape> inputs;
  absl::Span<const Shape> outputs;
  // Whether each output is asked for: a gradient may not be. Of the outputs' number.
  absl::Span<const bool> wanted;

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
  // Elements of an input; as a double, since products of them are large.
  double input_size(int i) const { return static_cast<double>(inputs[i].num_elements()); }
  double output_size(int i) const { return static_cast<double>(outputs[i].num_elements()); }
  // How many of these outputs are asked for.
  double Wanted(int first, int count) const {
    double number = 0;
    for (int i = first; i < first + count; ++i) number += wanted[i] ? 1 : 0;
    return number;
  }
};

using OpFlopsFn = double (*)(const OpWork& work);

// By the rule of the operator; 0 where it has none.
double ProductFlops(const OpWork& work);

// A second rule of one operator is a bug in cooper and ends the program.
struct OpFlopsRegistrar {
  OpFlopsRegistrar(const char* op, OpFlopsFn rule);
};

// COOPER_OP_FLOPS(op, rule)
#define COOPER_OP_FLOPS(op, ...) \
  static const ::cooper::OpFlopsRegistrar cooper_op_flops_##op(#op, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_
