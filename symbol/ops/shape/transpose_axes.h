#ifndef COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_AXES_H_
#define COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_AXES_H_

// What transpose and SwapAxis have in common, for passes that look for either.

#include <optional>
#include <vector>

#include "symbol/is_op.h"
#include "symbol/node.h"
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {

// Of an operator that puts the axes of its input, of this rank, into another order: the input's
// axis for each of the output's. Nullopt for all others.
inline std::optional<std::vector<int>> TransposeAxes(const Node& node, int rank) {
  const bool swaps = IsOp(node, "SwapAxis");
  if (!swaps && !IsOp(node, "transpose")) return std::nullopt;
  std::vector<int> axes;
  axes.reserve(rank);
  for (int i = 0; i < rank; ++i) {
    axes.push_back(swaps ? node.call().param<SwapAxisParam>().source_axis(i, rank)
                         : node.call().param<TransposeParam>().source_axis(i, rank));
  }
  return axes;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_AXES_H_
