#ifndef COOPER_SYMBOL_OPS_NN_ROI_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_ROI_POOLING_PARAM_H_

// Inputs and parameters of ROIPooling (Girshick, Fast R-CNN, 2015). The schema is in
// roi_pooling.cc, the geometry of bins in executor/kernels/detection/roi_region.h.
// _contrib_ROIAlign (symbol/ops/detection) does not round regions. MXNet:
// src/operator/roi_pooling.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width), rois (regions, 5): index of the sample, x1,
// y1, x2, y2, with both corners inside the region. The output is (regions, channels, pooled height,
// pooled width). A bin without elements, or of a sample that is not in the batch, gives 0.
struct ROIPoolingArrays {
  enum Input { kData, kRois };
};
// Inputs of the gradient of data: ograd goes to the first maximum of each bin. rois have no
// gradient.
struct ROIPoolingGradientArrays {
  enum Input { kOgrad, kData, kRois };
};

// Coordinates are scaled and rounded to elements; a region has at least one element. Bins are equal
// real parts of the region, rounded outwards, so they may overlap.
struct RoiPoolingParam {
  // (height, width) of the output, in bins; both at least 1.
  std::vector<int64_t> pooled_size;
  // Factor of the coordinates of rois, in [0, 1].
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
