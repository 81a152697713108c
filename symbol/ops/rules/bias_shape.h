#ifndef COOPER_SYMBOL_OPS_RULES_BIAS_SHAPE_H_
#define COOPER_SYMBOL_OPS_RULES_BIAS_SHAPE_H_

// The shape rule of the bias of FullyConnected and of operators that use the same bias: fused
// classifiers, recurrent layers and folded BatchNorms.

#include <cstdint>

#include "absl/status/status.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Gives input `i` the shape (n,), or (n, 1) if it is known to be a column: MXNet accepts both
// shapes, and kernels do not distinguish them. Fails with kInvalidArgument, with `why`, for any
// other shape.
inline absl::Status SetBias(ShapeContext& c, int i, int64_t n, const char* why) {
  const PartialShape& bias = c.input(i);
  const bool is_column = bias.rank_known() && bias.rank() == 2 &&
                         (bias[1] == 1 || (bias[0] == n && bias[1] == kUnknownDim));
  return c.SetInput(i, is_column ? PartialShape({n, 1}) : PartialShape({n}), why);
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RULES_BIAS_SHAPE_H_
