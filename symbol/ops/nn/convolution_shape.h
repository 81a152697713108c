#ifndef COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_
#define COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_

// Input names and shape rules of Convolution and its relatives: Deconvolution, _blocked_convolution
// and _fused_convolution. Tuples are checked before they are indexed, since parameters may come
// from untrusted files.

#include <cstdint>

#include "absl/status/status.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns data, weight, and bias unless no_bias, for an operator with the parameters Param.
template <typename Param>
OpSchema::Names ConvolutionInputs(const OpCall& call) {
  if (call.param<Param>().no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

// Fails with kInvalidArgument unless kernel has one to three values, the other tuples are empty or
// as long, all values are in range, and num_group divides num_filter.
absl::Status CheckConvolutionParam(const ConvolutionParam& param);

// Checks data's rank and channels: fails with kInvalidArgument unless data has two axes more than
// kernel and num_group divides its channels. Requires data's rank to be known. Sets *channels, to
// kUnknownDim if they are unknown.
absl::Status CheckConvolutionData(const ConvolutionParam& param, const PartialShape& data,
                                  int64_t* channels);

// Returns the shape (first, channels, spatial...) with its axes in the order of the layout. `first`
// is the batch size or, for a weight, the number of filters.
PartialShape OrderedShape(const ConvolutionParam& param, int64_t first, int64_t channels,
                          const WindowTuple& spatial);

// The rule of Convolution: data (batch_size, channels, spatial...), weight (num_filter, channels /
// num_group, kernel...), bias (num_filter,), output (batch_size, num_filter, (extent + 2 pad -
// reach) / stride + 1...), where reach is the dilated kernel's extent. Extents flow back from the
// output only where stride is 1; with other strides several extents fit. Fails with
// kInvalidArgument for parameters that CheckConvolutionParam refuses, and if the kernel exceeds the
// padded image. `weight` is the position of the weight among the inputs; bias follows it.
absl::Status ConvolutionShape(const ConvolutionParam& param, ShapeContext& c,
                              int weight = ConvolutionArrays::kWeight);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_CONVOLUTION_SHAPE_H_
