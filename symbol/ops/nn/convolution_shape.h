#ifndef COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_
#define COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_

// Inputs and shape rules of Convolution and its relatives.

#include <cstdint>

#include "absl/status/status.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns data, weight, and bias unless no_bias.
template <typename Param>
OpSchema::Names ConvolutionInputs(const OpCall& call) {
  if (call.param<Param>().no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

// Fails with kInvalidArgument if the parameters contradict each other.
absl::Status CheckConvolutionParam(const ConvolutionParam& param);

// Checks data's rank and channels. Sets *channels, to kUnknownDim if they are unknown.
absl::Status CheckConvolutionData(const ConvolutionParam& param, const PartialShape& data,
                                  int64_t* channels);

// Returns the shape (first, channels, spatial...) with its axes in the order of the layout.
PartialShape OrderedShape(const ConvolutionParam& param, int64_t first, int64_t channels,
                          const WindowTuple& spatial);

// The rule of Convolution: data (batch_size, channels, spatial...), weight (num_filter,
// channels / num_group, kernel...), bias (num_filter,), output (batch_size, num_filter,
// (extent + 2 pad - reach) / stride + 1...). Extents flow back only where stride is 1.
absl::Status ConvolutionShape(const ConvolutionParam& param, ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_
