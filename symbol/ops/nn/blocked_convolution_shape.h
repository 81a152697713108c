#ifndef COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_SHAPE_H_
#define COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_SHAPE_H_

#include "absl/status/status.h"
#include "symbol/ops/nn/blocked_convolution_param.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Shape rule: data (batch_size, channels / block, spatial..., block), or plain; weight (num_filter,
// channels / num_group, kernel...), not inferred if it is packed; bias (num_filter,), input `bias`
// if that is not negative; output (batch_size, num_filter / block, spatial..., block).
absl::Status BlockedConvolutionShape(const BlockedConvolutionParam& param, int bias,
                                     bool packed_weight, ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_SHAPE_H_
