#ifndef COOPER_SYMBOL_OPS_ELEMWISE_MAKE_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_MAKE_LOSS_PARAM_H_

// Parameters of MakeLoss, which makes any value a loss. The schema is in identity.cc, beside
// make_loss, the newer operator without parameters. MXNet: src/operator/make_loss.cc.

#include "symbol/schema/param_schema.h"

namespace cooper {

// The divisor of MakeLoss's gradient: 1 (kNull), the product of all extents but the last (kBatch),
// or the number of elements of data above valid_thresh, at least 1 (kValid). MXNet documents kBatch
// as the batch size and computes this product.
enum class MakeLossNormalization { kNull, kBatch, kValid };

// The output is data, in the same memory. Every element of data has the gradient grad_scale /
// divisor; the head gradient is ignored.
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
