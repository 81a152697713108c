#ifndef COOPER_SYMBOL_OPS_INDEX_TAKE_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_TAKE_PARAM_H_

#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// How an index out of range is handled.
enum class IndexMode { kClip, kWrap, kRaise };

// Inputs of take, pick and batch_take, which have other names for them.
struct TakeArrays {
  enum Input { kData, kIndex };
};
struct TakeGradientArrays {
  enum Input { kOgrad, kIndex };
};

struct TakeParam {
  int axis = 0;
  IndexMode mode = IndexMode::kClip;

  static void Declare(ParamDeclaration<TakeParam>& d) {
    d.Field("axis", &TakeParam::axis).Doc("the axis of a that is indexed");
    d.Enum("mode", &TakeParam::mode,
           {{"clip", IndexMode::kClip}, {"wrap", IndexMode::kWrap}, {"raise", IndexMode::kRaise}})
        .Doc("indices out of range: the nearest one, modulo the extent, or an error");
  }
};

struct PickParam {
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
