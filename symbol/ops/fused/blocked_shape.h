#ifndef COOPER_SYMBOL_OPS_FUSED_BLOCKED_SHAPE_H_
#define COOPER_SYMBOL_OPS_FUSED_BLOCKED_SHAPE_H_

// Shapes of images whose channels lie in blocks: (batch_size, channels / block, spatial..., block)
// instead of (batch_size, channels, spatial...), with one to three spatial axes. A vector
// instruction then processes a block at a time.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/extent_product.h"

namespace cooper {

// Returns the plain shape of a blocked one. `shape` must be known in full. Fails with
// kInvalidArgument unless it has four to six axes, the last one `block` long. `block` is the number
// of channels that lie side by side, at least 1.
inline absl::StatusOr<PartialShape> PlainShape(const PartialShape& shape, int64_t block) {
  const int rank = shape.rank();
  if (rank < 4 || rank > 6 || shape[rank - 1] != block) {
    return absl::InvalidArgumentError(absl::StrCat("a shape ", shape.ToString(),
                                                   ", expected (batch_size, channels / ", block,
                                                   ", one to three spatial axes, ", block, ")"));
  }
  PartialShape plain(shape.dims().first(rank - 1));
  plain[1] = ExtentProduct(plain[1], block);
  return plain;
}

// Returns the blocked shape of a plain one, (batch_size, channels, spatial...), which must be known
// in full. Fails with kInvalidArgument if `block` does not divide channels. The inverse of
// PlainShape.
inline absl::StatusOr<PartialShape> BlockedShape(const PartialShape& shape, int64_t block) {
  if (shape[1] % block != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("block ", block, " does not divide the ", shape[1], " channels"));
  }
  PartialShape blocked = PartialShape::OfRank(shape.rank() + 1);
  for (int i = 0; i < shape.rank(); ++i) blocked[i] = shape[i];
  blocked[1] /= block;
  blocked[shape.rank()] = block;
  return blocked;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_BLOCKED_SHAPE_H_
