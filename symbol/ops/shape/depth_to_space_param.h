#ifndef COOPER_SYMBOL_OPS_SHAPE_DEPTH_TO_SPACE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_DEPTH_TO_SPACE_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of depth_to_space and space_to_depth.
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
