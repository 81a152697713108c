#ifndef COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of SliceChannel: parts of equal extent.
struct SliceChannelParam {
  int num_outputs = 0;
  int axis = 1;
  bool squeeze_axis = false;

  static void Declare(ParamDeclaration<SliceChannelParam>& d) {
    d.Field("num_outputs", &SliceChannelParam::num_outputs)
        .Required()
        .Min(1)
        .Max(1 << 16)  // a file may say anything, and each costs memory at once
        .Doc("number of parts; divides the extent of axis");
    d.Field("axis", &SliceChannelParam::axis).Doc("the axis that is split");
    d.Field("squeeze_axis", &SliceChannelParam::squeeze_axis)
        .Doc("whether axis, then of extent 1, is removed from the parts");
  }
};

// Parameters of _split_v2: `sections` nearly equal parts, or parts that begin at `indices`.
struct SplitParam {
  std::vector<int64_t> indices;
  int axis = 1;
  bool squeeze_axis = false;
  int sections = 0;

  static void Declare(ParamDeclaration<SplitParam>& d) {
    d.Field("indices", &SplitParam::indices).Required().Doc("where each part begins");
    d.Field("axis", &SplitParam::axis).Doc("the axis that is split");
    d.Field("squeeze_axis", &SplitParam::squeeze_axis)
        .Doc("whether axis, then of extent 1, is removed from the parts");
    d.Field("sections", &SplitParam::sections)
        .Min(0)
        .Max(1 << 16)  // a file may say anything, and each costs memory at once
        .Doc("number of nearly equal parts; 0: as indices say");
  }

  int num_outputs() const { return sections > 0 ? sections : static_cast<int>(indices.size()); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_
