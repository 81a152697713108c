#ifndef COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

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

struct SwapAxisParam {
  int dim1 = 0;
  int dim2 = 0;

  static void Declare(ParamDeclaration<SwapAxisParam>& d) {
    d.Field("dim1", &SwapAxisParam::dim1).Doc("one axis");
    d.Field("dim2", &SwapAxisParam::dim2).Doc("the axis it changes places with");
  }

  int source_axis(int i, int rank) const {
    const int a = dim1 < 0 ? dim1 + rank : dim1;
    const int b = dim2 < 0 ? dim2 + rank : dim2;
    return i == a ? b : i == b ? a : i;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_TRANSPOSE_PARAM_H_
