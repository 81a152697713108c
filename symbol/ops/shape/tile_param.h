#ifndef COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct TileParam {
  std::vector<int64_t> reps;

  static void Declare(ParamDeclaration<TileParam>& d) {
    d.Field("reps", &TileParam::reps).Required().Doc("how often data is repeated along each axis");
  }
};

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

struct ReverseParam {
  std::vector<int64_t> axis;

  static void Declare(ParamDeclaration<ReverseParam>& d) {
    d.Field("axis", &ReverseParam::axis).Required().Doc("the axes that are reversed");
  }

  bool reverses(int i, int rank) const {
    for (int64_t a : axis) {
      if (a == i || a + rank == i) return true;
    }
    return false;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_TILE_PARAM_H_
