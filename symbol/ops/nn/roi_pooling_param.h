#ifndef COOPER_SYMBOL_OPS_NN_ROI_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_ROI_POOLING_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width), rois (regions, 5): sample, x1, y1, x2, y2.
struct ROIPoolingArrays {
  enum Input { kData, kRois };
};
struct ROIPoolingGradientArrays {
  enum Input { kOgrad, kData, kRois };
};

struct RoiPoolingParam {
  std::vector<int64_t> pooled_size;
  float spatial_scale = 1;

  static void Declare(ParamDeclaration<RoiPoolingParam>& d) {
    d.Field("pooled_size", &RoiPoolingParam::pooled_size)
        .Required()
        .Doc("(height, width) of the output");
    d.Field("spatial_scale", &RoiPoolingParam::spatial_scale)
        .Required()
        .Min(0)
        .Max(1)
        .Doc("what coordinates of rois are multiplied by");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_ROI_POOLING_PARAM_H_
