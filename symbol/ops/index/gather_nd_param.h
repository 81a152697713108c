#ifndef COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_

// Arrays and parameters of gather_nd, scatter_nd, _scatter_set_nd, ravel_multi_index and
// unravel_index. The schemas are in gather_nd.cc. MXNet: src/operator/tensor/indexing_op.h,
// ravel.h.
//
// An array of indices has the coordinates on its first axis: indices (m, ...) select, for each
// position of its other axes, the part of an array at m leading coordinates. Indices may have any
// dtype; fractions are dropped. A negative coordinate counts from the end of its axis; one out of
// range fails with kInvalidArgument when the kernel runs.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of gather_nd and scatter_nd. For whole (d_0, ..., d_k) and indices (m, i...), with m <= k
// + 1, a pick has the shape (d_m, ..., d_k). gather_nd takes whole as data and returns (i..., d_m,
// ..., d_k). scatter_nd takes these picks as data and writes them to zeros of `shape`; if two
// indices are equal, one of the picks stays.
//
//   data ((1, 2), (3, 4)), indices ((0, 1), (1, 0))   gather_nd gives (2, 3)
struct GatherNdArrays {
  enum Input { kData, kIndices };
};
// Inputs of gather_nd's gradient, which adds the picks up where indices repeat. The gradient of
// scatter_nd is gather_nd. Indices have no gradient.
struct GatherNdGradientArrays {
  enum Input { kOgrad, kIndices };
};
// Inputs of _scatter_set_nd, an assignment: the output is lhs with the picks rhs at indices. It may
// overwrite lhs. There is no gradient.
struct ScatterSetNdArrays {
  enum Input { kLhs, kRhs, kIndices };
};

// Parameters of scatter_nd and _scatter_set_nd: the shape of the output, in MXNet's notation of
// unknown extents. _scatter_set_nd merges it with the shape of lhs.
struct ScatterNdParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<ScatterNdParam>& d) {
    d.Field("shape", &ScatterNdParam::shape).Required().Doc("shape of the output");
  }
};

// Parameters of _ravel_multi_index and _unravel_index, which convert between indices (rank, n) into
// an array of `shape` and indices (n,) into the array flattened in row-major order. Both keep the
// dtype of data, so indices must be exact in it. The first extent is not used and may be -1; a
// negative one after it fails with kInvalidArgument. Indices are not checked.
//
//   shape=(4, 5): ravel_multi_index of ((1, 3), (2, 4)) gives (7, 19)
struct RavelParam {
  std::vector<int64_t> shape;

  static void Declare(ParamDeclaration<RavelParam>& d) {
    d.Field("shape", &RavelParam::shape).Doc("shape of the array that the indices are for");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_GATHER_ND_PARAM_H_
