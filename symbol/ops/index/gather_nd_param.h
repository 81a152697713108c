#ifndef COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of gather_nd and scatter_nd.
struct GatherNdArrays {
  enum Input { kData, kIndices };
};
struct GatherNdGradientArrays {
  enum Input { kOgrad, kIndices };
};
struct ScatterSetNdArrays {
  enum Input { kLhs, kRhs, kIndices };
};

// Parameters of scatter_nd and _scatter_set_nd.
struct ScatterNdParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<ScatterNdParam>& d) {
    d.Field("shape", &ScatterNdParam::shape).Required().Doc("shape of the output");
  }
};

// Parameters of _ravel_multi_index and _unravel_index.
struct RavelParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<RavelParam>& d) {
    d.Field("shape", &RavelParam::shape).Doc("shape of the array that the indices are for");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_
