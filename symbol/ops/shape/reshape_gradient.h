#ifndef COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
#define COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_

// The gradient rule of operators that return a view: Reshape, Flatten, expand_dims, squeeze and
// reshape_like.

#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/gradient_context.h"

namespace cooper {

// Returns the gradient of an operator whose output is input 0 under another shape: the head under
// the shape of input 0, a view too. The other inputs have no gradient. Linking this file registers
// _backward_reshape. Errors: those of GradientContext::head.
absl::StatusOr<std::vector<NodeEntry>> ReshapeGradient(GradientContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
