#ifndef COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_
#define COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_

// Counts the floating-point operations of the matrix products and convolutions in an operator; a
// multiplication and an addition count as two. An operator with such work registers a rule in a
// separate source of its folder, which need not be linked:
//
//   COOPER_OP_FLOPS(dot, [](const OpWork& work) { return 2.0 * ...; });
//
// All other operators read or write elements one by one, which is counted without a rule.

#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// A view of a call and the shapes of its arrays, valid only while the rule runs.
struct OpWork {
  const OpCall& call;
  absl::Span<const Shape> inputs;
  absl::Span<const Shape> outputs;
  // For each output, whether it is computed: a gradient may not be needed.
  absl::Span<const bool> wanted;

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
  // Return the number of elements of an input or an output, as a double, since products of such
  // numbers are large.
  double input_size(int i) const { return static_cast<double>(inputs[i].num_elements()); }
  double output_size(int i) const { return static_cast<double>(outputs[i].num_elements()); }
  // Returns how many of the outputs [first, first + count) are computed.
  double Wanted(int first, int count) const {
    double number = 0;
    for (int i = first; i < first + count; ++i) number += wanted[i] ? 1 : 0;
    return number;
  }
};

// A rule returns the operations of the outputs that are wanted. The count is a double, since int64
// may overflow for large networks.
using OpFlopsFn = double (*)(const OpWork& work);

// Returns the count of the operator's rule; 0 without a rule.
double ProductFlops(const OpWork& work);

// Registers a rule. A second rule of one operator is a bug in cooper and ends the program.
struct OpFlopsRegistrar {
  OpFlopsRegistrar(const char* op, OpFlopsFn rule);
};

// COOPER_OP_FLOPS(op, rule)
#define COOPER_OP_FLOPS(op, ...) \
  static const ::cooper::OpFlopsRegistrar cooper_op_flops_##op(#op, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_FLOPS_H_
