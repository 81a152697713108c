#ifndef COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
#define COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/gradient_context.h"

namespace cooper {

// The gradient of an operator whose output is input 0 under another shape: the head under input
// 0's shape. None flows to the other inputs.
absl::StatusOr<std::vector<NodeEntry>> ReshapeGradient(GradientContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_RESHAPE_GRADIENT_H_
