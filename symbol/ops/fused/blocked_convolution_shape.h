#ifndef COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_SHAPE_H_
#define COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_SHAPE_H_

// The shape rule of _blocked_convolution and _fused_convolution. It converts the blocked shapes to
// plain ones and applies the rule of Convolution (convolution_shape.h).

#include "absl/status/status.h"
#include "symbol/ops/fused/blocked_convolution_param.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Shape rule: data (batch_size, channels / block, spatial..., block), or plain with plain_data;
// weight (num_filter, channels / num_group, kernel...), not inferred if it is packed; bias
// (num_filter,), input `bias` if that is not negative; output (batch_size, num_filter / block,
// spatial..., block). Infers nothing before data is known in full. Fails with kInvalidArgument for
// a layout with channels last, if block does not divide num_filter, and as Convolution's rule does.
absl::Status BlockedConvolutionShape(const BlockedConvolutionParam& param, int bias,
                                     bool packed_weight, ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_SHAPE_H_
