#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_OP_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_OP_H_

// Declares operators that update a weight. Their inputs are weight and grad, then the optimizer's
// states of that weight, which they write; the output is the new weight, which may overwrite the
// old one. Each has a mixed-precision variant for weights of 16-bit floats (MasterUpdateName) with
// float32 states. Its last input "weight32" is the float32 master copy of the weight: the update is
// applied to it, and the output is rounded from it.

#include <string>
#include <utility>
#include <vector>

#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// Returns "mp_sgd_update" for "sgd_update", "_mp_lamb_update" for "_lamb_update".
std::string MasterUpdateName(const std::string& name);

// Merges the shapes of inputs [first, first + count) and of the output `output`. Fails with
// kInvalidArgument if two contradict each other.
absl::Status EqualShapes(ShapeContext& c, int first, int count, int output);

// Type rule of mixed-precision variants: weight, gradient and output have one dtype, all other
// inputs are float32.
absl::Status MasterTypes(TypeContext& c);

// Adds inputs and rules of an update to `op`; with `master`, those of the mixed-precision variant.
// `states` are the names of the states, in the order of the inputs; they are auxiliary states, so
// the kernel may write them. Name, parameters and documentation are left to the caller.
OpBuilder&& UpdateOp(OpBuilder&& op, const std::vector<std::string>& states, bool master);

// Declares the operator `name` and its mixed-precision variant, both with the parameters P and the
// documentation `doc`, a formula. Called while static variables are initialized. Updates that use
// norms or random numbers are not elementwise.
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
