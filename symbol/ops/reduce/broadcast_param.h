#ifndef COOPER_SYMBOL_OPS_REDUCE_BROADCAST_PARAM_H_
#define COOPER_SYMBOL_OPS_REDUCE_BROADCAST_PARAM_H_

// Parameters of operators that broadcast an array along its axes of extent 1.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of broadcast_axis.
struct BroadcastAxisParam {
  std::vector<int64_t> axis;
  std::vector<int64_t> size;

  static void Declare(ParamDeclaration<BroadcastAxisParam>& d) {
    d.Field("axis", &BroadcastAxisParam::axis).Doc("axes of extent 1");
    d.Field("size", &BroadcastAxisParam::size).Doc("their extents in the output");
  }
};

// Parameters of broadcast_to.
struct BroadcastToParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<BroadcastToParam>& d) {
    d.Field("shape", &BroadcastToParam::shape).Doc("shape of the output; 0 keeps the extent");
  }
};

// Parameters of broadcast_like.
struct BroadcastLikeParam {
  std::optional<std::vector<int64_t>> lhs_axes;
  std::optional<std::vector<int64_t>> rhs_axes;

  static void Declare(ParamDeclaration<BroadcastLikeParam>& d) {
    d.Field("lhs_axes", &BroadcastLikeParam::lhs_axes).Doc("axes of lhs to broadcast; None: all");
    d.Field("rhs_axes", &BroadcastLikeParam::rhs_axes).Doc("axes of rhs whose extents they take");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_REDUCE_BROADCAST_PARAM_H_
