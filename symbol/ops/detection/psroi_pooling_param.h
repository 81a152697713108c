#ifndef COOPER_SYMBOL_OPS_DETECTION_PSROI_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_PSROI_POOLING_PARAM_H_

// Inputs and parameters of _contrib_PSROIPooling (Dai et al., R-FCN, 2016). The schema is in
// psroi_pooling.cc, the geometry of bins in executor/kernels/detection/psroi_region.h.
// _contrib_DeformablePSROIPooling moves the bins. MXNet: src/operator/contrib/psroi_pooling.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width) with channels >= output_dim * group_size^2;
// rois (regions, 5): index of the sample, x1, y1, x2, y2, with both corners inside the region. The
// output is (regions, output_dim, pooled_size, pooled_size). A bin without elements, or of a sample
// that is not in the batch, gives 0. All arrays have one dtype, float32 or float64.
struct PsroiPoolingArrays {
  enum Input { kData, kRois };
};
// The gradient of data spreads ograd evenly over the elements of each bin. rois have no gradient.
struct PsroiPoolingGradientArrays {
  enum Input { kOgrad, kRois };
};

// A bin is the mean of its elements in one channel of data, which depends on the bin's position:
// bin (i, j) of output channel c reads channel (c * group_size + i') * group_size + j', where i' =
// floor(i * group_size / pooled_size) and j' likewise.
struct PsroiPoolingParam {
  // Factor of the coordinates of rois, in [0, 1], after they have been rounded.
  float spatial_scale = 1;
  // Channels of the output.
  int64_t output_dim = 1;
  // Bins along each axis.
  int64_t pooled_size = 1;
  // Positions along each axis that have channels of their own; 0: pooled_size.
  int64_t group_size = 0;

  int64_t groups() const { return group_size == 0 ? pooled_size : group_size; }

  static void Declare(ParamDeclaration<PsroiPoolingParam>& d) {
    d.Field("spatial_scale", &PsroiPoolingParam::spatial_scale)
        .Required()
        .Min(0)
        .Max(1)
        .Doc("what coordinates of rois are multiplied by");
    d.Field("output_dim", &PsroiPoolingParam::output_dim)
        .Required()
        .Min(1)
        .Doc("channels of the output");
    d.Field("pooled_size", &PsroiPoolingParam::pooled_size)
        .Required()
        .Min(1)
        .Doc("bins along each axis of a region");
    d.Field("group_size", &PsroiPoolingParam::group_size)
        .Min(0)
        .Doc("positions along each axis with channels of their own; 0: pooled_size");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_PSROI_POOLING_PARAM_H_
