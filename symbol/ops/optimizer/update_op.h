#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_OP_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_OP_H_

// How operators that update a weight are declared. Their inputs are weight and grad, then the
// optimizer's states of that weight, which they write; the output is the new weight, which may lie
// over the old one. Each has a relative for weights of 16-bit floats (MasterUpdateName), whose
// states are float32 and whose last input "weight32" is the float32 copy of the weight, which the
// update is made on and the output is rounded from.

#include <string>
#include <utility>
#include <vector>

#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// "mp_sgd_update" of "sgd_update", "_mp_lamb_update" of "_lamb_update".
std::string MasterUpdateName(const std::string& name);

// Inputs [first, first + count) and the output of that number, of one shape.
absl::Status EqualShapes(ShapeContext& c, int first, int count, int output);

// Weight, gradient and output have one dtype, all other inputs float32.
absl::Status MasterTypes(TypeContext& c);

// `op` with inputs and rules of an update; with `master`, of its relative.
OpBuilder&& UpdateOp(OpBuilder&& op, const std::vector<std::string>& states, bool master);

// Declares the operator `name` and its relative. Updates by norms, or with random numbers, are not
// element-wise.
template <typename P>
void RegisterUpdate(const std::string& name, const std::vector<std::string>& states,
                    const std::string& doc, bool elementwise = true) {
  for (const bool master : {false, true}) {
    OpBuilder update = UpdateOp(OpBuilder(master ? MasterUpdateName(name) : name), states, master)
                           .Describe(doc)
                           .Param<P>();
    const OpRegistrar registrar(elementwise ? std::move(update).Elementwise() : std::move(update));
  }
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_OP_H_
