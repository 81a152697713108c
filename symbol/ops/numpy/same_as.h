#ifndef COOPER_SYMBOL_OPS_NUMPY_SAME_AS_H_
#define COOPER_SYMBOL_OPS_NUMPY_SAME_AS_H_

// Takes facts of NumPy operators from the older operators that compute the same values. MXNet's
// NumPy operators (_np_, _npi_, _npx_), which Gluon writes under npx.set_np(), differ from these in
// dtypes, in shapes, which may be (), and in names of inputs and attributes.

#include <string>

#include "symbol/schema/op.h"

namespace cooper {

// Returns the gradient rule of operator `op`, for an operator with the same parameter struct and
// the same order of inputs. The rule is looked up when it is called: it returns no gradients if
// `op` has none, and fails with kNotFound if `op` is not linked. A gradient of integers whose
// output has floats fails later, in the executor, since an argument and its gradient have one
// dtype.
OpSchema::GradientFn GradientOf(const std::string& op);

// Returns the shape rule of operator `op`, for an operator with the same parameter struct and the
// same order of inputs. It fails with kNotFound if `op` is not linked.
OpSchema::ShapeFn ShapeOf(const std::string& op);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_SAME_AS_H_
