#ifndef COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_

// Parameters of transpose and SwapAxis, which permute the axes of an array. The schemas are in
// transpose.cc. Graph passes of the executor move transposes and merge them into matrix products;
// they read the permutation through source_axis. MXNet: src/operator/tensor/matrix_op-inl.h,
// src/operator/swapaxis-inl.h.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of transpose: axis i of the output is axis axes[i] of data. Shape inference fails with
// kInvalidArgument unless axes is empty or a permutation of all axes. The gradient applies the
// inverse permutation.
//
//   data (2, 3, 4), axes=(2, 0, 1)   gives (4, 2, 3)
struct TransposeParam {
  std::vector<int64_t> axes;

  static void Declare(ParamDeclaration<TransposeParam>& d) {
    d.Field("axes", &TransposeParam::axes)
        .Doc("the axis of data that each axis of the output is; empty: in opposite order");
  }

  // Returns the axis of data that becomes axis `i` of the output.
  int source_axis(int i, int rank) const {
    if (axes.empty()) return rank - 1 - i;
    return static_cast<int>(axes[i] < 0 ? axes[i] + rank : axes[i]);
  }
};

// Parameters of SwapAxis: data with the axes dim1 and dim2 exchanged. The gradient is the same
// operator.
struct SwapAxisParam {
  int dim1 = 0;
  int dim2 = 0;

  static void Declare(ParamDeclaration<SwapAxisParam>& d) {
    d.Field("dim1", &SwapAxisParam::dim1).Doc("one axis");
    d.Field("dim2", &SwapAxisParam::dim2).Doc("the axis it changes places with");
  }

  // Returns the axis of data that becomes axis `i` of the output, as TransposeParam::source_axis
  // does.
  int source_axis(int i, int rank) const {
    const int a = dim1 < 0 ? dim1 + rank : dim1;
    const int b = dim2 < 0 ? dim2 + rank : dim2;
    return i == a ? b : i == b ? a : i;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_
