#ifndef COOPER_SYMBOL_OPS_DETECTION_ROI_ALIGN_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_ROI_ALIGN_PARAM_H_

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width), rois (regions, 5): sample, x1, y1, x2, y2.
struct RoiAlignArrays {
  enum Input { kData, kRois };
};
struct RoiAlignGradientArrays {
  enum Input { kOgrad, kRois };
};

struct RoiAlignParam {
  std::vector<int64_t> pooled_size;
  float spatial_scale = 1;
  int64_t sample_ratio = -1;
  bool position_sensitive = false;
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
