#ifndef COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
#define COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/gradient_context.h"

namespace cooper {

// Returns the gradient of an operator whose output is input 0 under another shape: the head under
// the shape of input 0. The other inputs have no gradient.
absl::StatusOr<std::vector<NodeEntry>> ReshapeGradient(GradientContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
