#ifndef COOPER_SYMBOL_OPS_NN_ADAPTIVE_AVG_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_ADAPTIVE_AVG_POOLING_PARAM_H_

// Arrays and parameters of _contrib_AdaptiveAvgPooling2D, which derives its windows from the
// output's size, so that images of any size give feature maps of one size. The schema is in
// adaptive_avg_pooling.cc, the windows in executor/kernels/pooling/adaptive_window.h. MXNet:
// src/operator/contrib/adaptive_avg_pooling.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// data is (batch_size, channels, h, w), the output (batch_size, channels, height, width), of the
// same dtype. An image without pixels fails with kInvalidArgument in shape inference.
struct AdaptiveAvgPoolingArrays {
  enum Input { kData };
};
// Each pixel gets the sum, over the windows that contain it, of ograd / pixels of the window.
struct AdaptiveAvgPoolingGradientArrays {
  enum Input { kOgrad };
};

// Output row o is the mean over the rows [floor(o * h / height), ceil((o + 1) * h / height)) of
// data; columns follow the same formula with w and width. Windows cover the image; they overlap
// along an axis whose extent is no multiple of the output's.
struct AdaptiveAvgPoolingParam {
  // (height, width), one number for both, or () for (1, 1), the mean of the image. Shape inference
  // fails with kInvalidArgument for more numbers and for numbers below 1.
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
