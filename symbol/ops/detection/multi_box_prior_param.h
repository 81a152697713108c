#ifndef COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_PRIOR_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_MULTI_BOX_PRIOR_PARAM_H_

#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _contrib_MultiBoxPrior.
struct MultiBoxPriorParam {
  std::vector<float> sizes = {1};
  std::vector<float> ratios = {1};
  bool clip = false;
  std::vector<float> steps = {-1, -1};
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
