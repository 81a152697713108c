#ifndef COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_

// Parameters of SliceChannel and _split_v2, which split an array along an axis. The schemas are in
// split.cc. Executors may let the outputs be parts of the input's memory, so that nothing is copied
// (OpSchema::split_axis). The gradient joins the head gradients. MXNet:
// src/operator/slice_channel-inl.h, src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of SliceChannel, known as split: num_outputs parts of equal extent, in order. The
// extent of the axis must be a multiple of num_outputs, and equal to it with squeeze_axis. Shapes
// flow in both directions.
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

// Parameters of _split_v2: `sections` nearly equal parts, of which the first ones have one index
// more, or parts that begin at `indices`, which start with 0 and do not decrease. The last part
// ends with the axis.
//
//   extent 7, sections=3 gives 3 2 2; indices=(0, 2, 6) gives 2 4 1
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

  // Returns the number of parts; 0, which shape inference refuses, if neither parameter is set.
  int num_outputs() const { return sections > 0 ? sections : static_cast<int>(indices.size()); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_SPLIT_PARAM_H_
