#ifndef COOPER_SYMBOL_OPS_NUMPY_BINCOUNT_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_BINCOUNT_PARAM_H_

// Arrays and parameters of _npi_bincount, which counts how often each number occurs. The number of
// bins depends on values (symbol/schema/counted_shapes.h). The schema is in bincount.cc. MXNet:
// src/operator/numpy/np_bincount_op-inl.h.
//
// There are as many bins as the greatest number needs, and at least minlength. Memory is planned
// for the larger one of minlength and the number of elements of data: a greater number fails when
// the kernel runs, unless minlength is above it.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (n,) or a scalar, of an integer dtype, not negative; weights of data's shape with
// has_weights. Outputs: the counts, or the sums of the weights, of the numbers 0, 1, ... (bins,);
// hidden, their shape. The dtype is that of weights, or of data without them. No gradient flows.
//
//   data (1, 3, 3, 0), minlength=5   gives (1, 1, 0, 2, 0)
struct BincountArrays {
  enum Input { kData, kWeights };
  enum Output { kCounts, kShapes };
};

// Parameters of _npi_bincount.
struct BincountParam {
  int64_t minlength = 0;  // below 0 is 0
  bool has_weights = false;

  static void Declare(ParamDeclaration<BincountParam>& d) {
    d.Field("minlength", &BincountParam::minlength)
        .Doc("the least number of bins; the most are the larger of it and data's elements");
    d.Field("has_weights", &BincountParam::has_weights)
        .Doc("whether weights are added up instead of ones");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_BINCOUNT_PARAM_H_
