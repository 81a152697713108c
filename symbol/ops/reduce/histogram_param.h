#ifndef COOPER_SYMBOL_OPS_REDUCE_HISTOGRAM_PARAM_H_
#define COOPER_SYMBOL_OPS_REDUCE_HISTOGRAM_PARAM_H_

// Arrays and parameters of _histogram (histogram.cc). MXNet: src/operator/tensor/histogram-inl.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// data has any shape; bins (n + 1,), in ascending order, are the bounds of n bins. bins is no input
// if bin_cnt is given. Outputs: the numbers of elements in each bin (n,), as int64, and the bounds
// (n + 1,), in data's dtype. A bin contains its lower bound; the last one contains its upper bound
// too. NaN is in no bin.
struct HistogramArrays {
  enum Input { kData, kBins };
  enum Output { kCounts, kBounds };
};

// Either both are given, and the bins divide `range` equally, or none. A range of one number is
// widened by 0.5 on both sides.
struct HistogramParam {
  std::optional<int64_t> bin_cnt;
  std::optional<std::vector<double>> range;

  static void Declare(ParamDeclaration<HistogramParam>& d) {
    d.Field("bin_cnt", &HistogramParam::bin_cnt).Doc("number of bins; None: bins is an input");
    d.Field("range", &HistogramParam::range).Doc("the least and the greatest bound");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_REDUCE_HISTOGRAM_PARAM_H_
