#ifndef COOPER_SYMBOL_OPS_REDUCE_BROADCAST_PARAM_H_
#define COOPER_SYMBOL_OPS_REDUCE_BROADCAST_PARAM_H_

// Parameters of operators that broadcast an array along its axes of extent 1 (broadcast.cc). Binary
// operators broadcast by themselves (broadcast_binary.cc). The gradient of each is the head
// gradient, summed over the axes along which data was repeated. MXNet:
// src/operator/tensor/broadcast_reduce_op_value.cc.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of broadcast_axis: data with axis[i] repeated to size[i]. The axes must have extent 1
// and the tuples one length; inference fails with kInvalidArgument otherwise.
//
//   data (2, 1, 1), axis=(1, 2), size=(3, 4)   gives (2, 3, 4)
struct BroadcastAxisParam {
  std::vector<int64_t> axis;
  std::vector<int64_t> size;

  static void Declare(ParamDeclaration<BroadcastAxisParam>& d) {
    d.Field("axis", &BroadcastAxisParam::axis).Doc("axes of extent 1");
    d.Field("size", &BroadcastAxisParam::size).Doc("their extents in the output");
  }
};

// Parameters of broadcast_to: data with its axes of extent 1 repeated to `shape`, which has data's
// rank. An extent of 0 is data's.
struct BroadcastToParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<BroadcastToParam>& d) {
    d.Field("shape", &BroadcastToParam::shape).Doc("shape of the output; 0 keeps the extent");
  }
};

// Parameters of broadcast_like, whose second input rhs gives only extents: its elements are not
// read, and it has no gradient. Without axes lhs is broadcast to the shape of rhs. The axes have an
// effect only if both tuples are set; they have equal lengths, and lhs_axes[i] takes the extent of
// rhs_axes[i].
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
