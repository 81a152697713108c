#ifndef COOPER_SYMBOL_OPS_ELEMWISE_MAKE_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_MAKE_LOSS_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// The divisor of MakeLoss's gradient.
enum class MakeLossNormalization { kNull, kBatch, kValid };

struct MakeLossParam {
  double grad_scale = 1;
  double valid_thresh = 0;
  MakeLossNormalization normalization = MakeLossNormalization::kNull;

  static void Declare(ParamDeclaration<MakeLossParam>& d) {
    d.Field("grad_scale", &MakeLossParam::grad_scale).Doc("the gradient before normalization");
    d.Field("valid_thresh", &MakeLossParam::valid_thresh)
        .Doc("with normalization valid, elements above it are counted");
    d.Enum("normalization", &MakeLossParam::normalization,
           {{"null", MakeLossNormalization::kNull},
            {"batch", MakeLossNormalization::kBatch},
            {"valid", MakeLossNormalization::kValid}})
        .Doc(
            "what grad_scale is divided by: 1, the extents of all axes but the last, or the number "
            "of "
            "valid elements");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_MAKE_LOSS_PARAM_H_
