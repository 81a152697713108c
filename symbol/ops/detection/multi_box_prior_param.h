#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_PRIOR_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_PRIOR_PARAM_H_

// Parameters of _contrib_MultiBoxPrior, which generates the anchors of an SSD detector (Liu et al.,
// SSD: Single Shot MultiBox Detector, 2016, 2.2). The schema, which also checks the tuples, is in
// multi_box_prior.cc; the kernels share prior_box.h in executor/kernels/detection. MXNet:
// src/operator/contrib/multibox_prior.cc.

#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _contrib_MultiBoxPrior. data is a feature map (batch_size, channels, height, width)
// of which only the shape matters; the output is (1, height * width * k, 4) with k = sizes + ratios
// - 1 boxes for each pixel, row by row: corners xmin, ymin, xmax, ymax as parts of the image's
// extents. With s a size and r a ratio, a box has
//
//   height s / sqrt(r),   width s * sqrt(r) * height of data / width of data
//
// The first boxes of a pixel have all sizes with ratios[0], the others sizes[0] with ratios[1],
// ratios[2] and so on. Numbers are computed in float, as in MXNet. There is no gradient.
struct MultiBoxPriorParam {
  // Heights of boxes with the ratio 1, as parts of the image's height; not empty.
  std::vector<float> sizes = {1};
  // Aspect ratios, width by height; not empty. The factor of the feature map's own aspect ratio
  // makes the box of ratio 1 a square if the pixels of the map are squares.
  std::vector<float> ratios = {1};
  // Whether coordinates are limited to [0, 1].
  bool clip = false;
  // Distances (y, x) of the centers of neighbouring pixels, as parts of the image. If either is not
  // above 0, both are one pixel: 1 / height and 1 / width. The two must not differ in sign.
  std::vector<float> steps = {-1, -1};
  // Position (y, x) of a center in its pixel, from 0 to 1 in pixels.
  std::vector<float> offsets = {0.5, 0.5};

  static void Declare(ParamDeclaration<MultiBoxPriorParam>& d) {
    d.Field("sizes", &MultiBoxPriorParam::sizes)
        .Doc("heights of boxes, of an image of height 1, each with the first of ratios");
    d.Field("ratios", &MultiBoxPriorParam::ratios)
        .Doc("width by height of boxes, those from the second on with the first of sizes");
    d.Field("clip", &MultiBoxPriorParam::clip).Doc("whether boxes end at the edges of the image");
    d.Field("steps", &MultiBoxPriorParam::steps)
        .Doc("from one center to the next: y, x; not above 0: one pixel of data");
    d.Field("offsets", &MultiBoxPriorParam::offsets)
        .Doc("of a center in its pixel: y, x, from 0 to 1");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_PRIOR_PARAM_H_
