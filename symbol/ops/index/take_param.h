#ifndef COOPER_SYMBOL_OPS_INDEX_TAKE_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_TAKE_PARAM_H_

// Arrays and parameters of take, pick and batch_take, which select elements along one axis. The
// schemas are in take.cc. gather_nd selects by coordinates of several axes; Embedding
// (symbol/ops/nn) is take along axis 0 of a weight. MXNet: src/operator/tensor/indexing_op.h,
// broadcast_reduce_op.h.

#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The handling of an index outside of [0, n): kClip takes the nearest valid index, kWrap takes it
// modulo n, so that -1 is the last element, kRaise fails with kInvalidArgument when the kernel
// runs.
enum class IndexMode { kClip, kWrap, kRaise };

// Inputs of take, pick and batch_take, which have other names for them. Indices of take and pick
// may have any dtype and lose their fractions; batch_take takes int32. The output has data's dtype.
//
// take: data (x..., n, y...) and indices (i...) give (x..., i..., y...). pick: index has data's
// shape without the axis, or with extent 1 there; output[p] = data[p, index[p]]. batch_take: data
// (..., n) with as many rows as indices; the output has the shape of indices.
struct TakeArrays {
  enum Input { kData, kIndex };
};
// Inputs of the gradients of take and pick, which add ograd up at the indices; other elements get
// 0. Indices have no gradient, and batch_take has none at all, as in MXNet.
struct TakeGradientArrays {
  enum Input { kOgrad, kIndex };
};

// Parameters of take.
struct TakeParam {
  // The axis of data that is indexed; negative axes count from the end.
  int axis = 0;
  IndexMode mode = IndexMode::kClip;

  static void Declare(ParamDeclaration<TakeParam>& d) {
    d.Field("axis", &TakeParam::axis).Doc("the axis of a that is indexed");
    d.Enum("mode", &TakeParam::mode,
           {{"clip", IndexMode::kClip}, {"wrap", IndexMode::kWrap}, {"raise", IndexMode::kRaise}})
        .Doc("indices out of range: the nearest one, modulo the extent, or an error");
  }
};

// Parameters of pick, which takes one element along the axis for each position of the others. A
// vector gives (1,), since MXNet has no scalars.
struct PickParam {
  // The axis that is indexed. None, which MXNet accepts for flattened data, fails with
  // kInvalidArgument.
  std::optional<int> axis = -1;
  bool keepdims = false;
  IndexMode mode = IndexMode::kClip;

  static void Declare(ParamDeclaration<PickParam>& d) {
    d.Field("axis", &PickParam::axis).Doc("the axis that is indexed");
    d.Field("keepdims", &PickParam::keepdims).Doc("whether the axis stays, with extent 1");
    d.Enum("mode", &PickParam::mode, {{"clip", IndexMode::kClip}, {"wrap", IndexMode::kWrap}})
        .Doc("indices out of range: the nearest one, or modulo the extent");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_TAKE_PARAM_H_
