#ifndef COOPER_SYMBOL_OPS_NN_BLOCKED_SHAPE_H_
#define COOPER_SYMBOL_OPS_NN_BLOCKED_SHAPE_H_

// Images whose channels lie in blocks: (batch_size, channels / block, height, width, block) in
// place of (batch_size, channels, height, width). A vector instruction then takes a block at a
// time.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/partial_shape.h"

namespace cooper {

// `shape` is known in full. kInvalidArgument if it is none of five axes, the last one `block` long.
inline absl::StatusOr<PartialShape> PlainShape(const PartialShape& shape, int64_t block) {
  if (shape.rank() != 5 || shape[4] != block) {
    return absl::InvalidArgumentError(absl::StrCat("a shape ", shape.ToString(),
                                                   ", expected (batch_size, channels / ", block,
                                                   ", height, width, ", block, ")"));
  }
  return PartialShape{shape[0], shape[1] * block, shape[2], shape[3]};
}

// `shape` is known in full and has four axes. kInvalidArgument if `block` does not divide channels.
inline absl::StatusOr<PartialShape> BlockedShape(const PartialShape& shape, int64_t block) {
  if (shape[1] % block != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("block ", block, " does not divide the ", shape[1], " channels"));
  }
  return PartialShape{shape[0], shape[1] / block, shape[2], shape[3], block};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_BLOCKED_SHAPE_H_
