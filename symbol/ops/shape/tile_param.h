#ifndef COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_

// Parameters of tile, repeat and reverse. The schemas are in tile.cc. MXNet:
// src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of tile: the whole of data, reps[i] times along axis i. reps and the shape are aligned
// at their last axes; missing numbers are 1. The gradient is the sum of ograd over the copies.
//
//   (1, 2, 3), reps=(2,)   gives (1, 2, 3, 1, 2, 3)
struct TileParam {
  std::vector<int64_t> reps;

  static void Declare(ParamDeclaration<TileParam>& d) {
    d.Field("reps", &TileParam::reps).Required().Doc("how often data is repeated along each axis");
  }
};

// Parameters of repeat: each element, or each slice of the axis, `repeats` times in succession.
// With an axis, repeats=0 gives the shape (0,), as in MXNet. The gradient is the sum of ograd over
// the copies.
//
//   (1, 2, 3), repeats=2   gives (1, 1, 2, 2, 3, 3)
struct RepeatParam {
  int64_t repeats = 0;
  std::optional<int> axis;

  static void Declare(ParamDeclaration<RepeatParam>& d) {
    d.Field("repeats", &RepeatParam::repeats)
        .Required()
        .Min(0)
        .Doc("how often each element follows itself");
    d.Field("axis", &RepeatParam::axis).Doc("along which axis; None: data is flattened first");
  }
};

// Parameters of reverse, known as flip: data with the order of the indices of each listed axis
// reversed. The gradient is the same operator on ograd.
struct ReverseParam {
  std::vector<int64_t> axis;

  static void Declare(ParamDeclaration<ReverseParam>& d) {
    d.Field("axis", &ReverseParam::axis).Required().Doc("the axes that are reversed");
  }

  // Returns whether axis `i` of an array of `rank` axes is reversed: `axis` lists it an odd number
  // of times, because an axis that is listed twice is reversed twice.
  bool reverses(int i, int rank) const {
    bool reversed = false;
    for (int64_t a : axis) {
      if (a == i || a + rank == i) reversed = !reversed;
    }
    return reversed;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_
