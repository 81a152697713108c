#ifndef COOPER_SYMBOL_OPS_DETECTION_ROI_ALIGN_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_ROI_ALIGN_PARAM_H_

// Inputs and parameters of _contrib_ROIAlign (He et al., Mask R-CNN, 2017). The schema is in
// roi_align.cc, the geometry of the sampling points in executor/kernels/detection/roi_points.h.
// ROIPooling (symbol/ops/nn/roi_pooling_param.h) is the older operator, which rounds regions to
// pixels and takes maxima. MXNet: src/operator/contrib/roi_align.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width), rois (regions, 5): index of the sample, x1,
// y1, x2, y2. The output is (regions, channels, pooled height, pooled width); a region whose sample
// is not in the batch gives zeros. All arrays have one dtype.
struct RoiAlignArrays {
  enum Input { kData, kRois };
};
// The gradient goes to data: each point spreads ograd / points over its four pixels with the
// weights of the interpolation. rois have no gradient.
struct RoiAlignGradientArrays {
  enum Input { kOgrad, kRois };
};

// Divides each region, scaled by spatial_scale, into pooled_size bins, and takes the mean of a grid
// of points in each bin. A point interpolates its four neighbouring pixels bilinearly; a point more
// than one pixel outside of the image counts as 0.
struct RoiAlignParam {
  // (height, width) of the output, in bins; both at least 1.
  std::vector<int64_t> pooled_size;
  // Factor of the coordinates of rois, in [0, 1]: 1 / 16 for a feature map with a stride of 16
  // pixels and rois in pixels of the image.
  float spatial_scale = 1;
  // Points along each axis of a bin. Not above 0: the length of the bin in pixels, rounded up.
  int64_t sample_ratio = -1;
  // Whether each bin reads channels of its own (R-FCN): channel c of the output takes bin b from
  // channel c * bins + b of data, with bins = pooled height * pooled width, counted row by row. The
  // shape rule checks that bins divides the channels of data.
  bool position_sensitive = false;
  // Whether 0.5 is subtracted from scaled coordinates, since the center of pixel i is at i + 0.5,
  // and regions smaller than a pixel keep their size. Otherwise such a region counts as one pixel.
  bool aligned = false;

  static void Declare(ParamDeclaration<RoiAlignParam>& d) {
    d.Field("pooled_size", &RoiAlignParam::pooled_size)
        .Required()
        .Doc("(height, width) of the output");
    d.Field("spatial_scale", &RoiAlignParam::spatial_scale)
        .Required()
        .Min(0)
        .Max(1)
        .Doc("what coordinates of rois are multiplied by");
    d.Field("sample_ratio", &RoiAlignParam::sample_ratio)
        .Doc("points along each axis of a bin; as many as it has pixels if not above 0");
    d.Field("position_sensitive", &RoiAlignParam::position_sensitive)
        .Doc("whether each bin has channels of data of its own, so that the output has fewer");
    d.Field("aligned", &RoiAlignParam::aligned)
        .Doc(
            "whether pixels are points half a pixel from their edges, and regions may be smaller "
            "than one");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_ROI_ALIGN_PARAM_H_
