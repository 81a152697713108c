#ifndef COOPER_SYMBOL_OPS_NN_ADAPTIVE_AVG_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_ADAPTIVE_AVG_POOLING_PARAM_H_

// Parameters of _contrib_AdaptiveAvgPooling2D, which derives its windows from the output's size.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct AdaptiveAvgPoolingArrays {
  enum Input { kData };
};
struct AdaptiveAvgPoolingGradientArrays {
  enum Input { kOgrad };
};

struct AdaptiveAvgPoolingParam {
  std::vector<int64_t> output_size;

  // Returns the output's extent: the height for axis 0, the width for axis 1.
  int64_t extent(int axis) const {
    if (output_size.empty()) return 1;
    return output_size[output_size.size() == 1 ? 0 : axis];
  }

  static void Declare(ParamDeclaration<AdaptiveAvgPoolingParam>& d) {
    d.Field("output_size", &AdaptiveAvgPoolingParam::output_size)
        .Doc("height and width of the output, or one number for both; () is (1, 1)");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_ADAPTIVE_AVG_POOLING_PARAM_H_
