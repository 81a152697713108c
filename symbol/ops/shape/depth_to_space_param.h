#ifndef COOPER_SYMBOL_OPS_SHAPE_DEPTH_TO_SPACE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_DEPTH_TO_SPACE_PARAM_H_

// Parameters of depth_to_space and space_to_depth, which rearrange channels into blocks of pixels
// and back. The schemas are in depth_to_space.cc. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// With b = block_size, depth_to_space converts (n, c * b * b, h, w) to (n, c, h * b, w * b): the
// pixel at (y * b + i, x * b + j) of channel k is channel (i * b + j) * c + k at (y, x).
// space_to_depth is its inverse; each is the other's gradient. Extents that b does not divide fail
// with kInvalidArgument in shape inference.
struct DepthToSpaceParam {
  int64_t block_size = 0;

  static void Declare(ParamDeclaration<DepthToSpaceParam>& d) {
    d.Field("block_size", &DepthToSpaceParam::block_size)
        .Required()
        .Min(1)
        .Max(1 << 16)  // its square counts channels
        .Doc("rows and columns of the blocks that channels become or come from");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_DEPTH_TO_SPACE_PARAM_H_
