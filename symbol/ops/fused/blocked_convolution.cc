// Convolution of arrays whose channels lie in blocks for vector instructions: (batch_size, channels
// / block, spatial..., block). Not in symbol files: a graph pass builds it from Convolution.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/blocked_convolution_param.h"
#include "symbol/ops/fused/blocked_convolution_shape.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum ConvolutionArrays::Input;

absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_blocked_convolution", {head, c.input(kData), c.input(kWeight)});
}

COOPER_REGISTER_OP(_blocked_convolution)
    .Describe("Convolution of arrays whose channels lie in blocks.")
    .Param<BlockedConvolutionParam>()
    .Inputs(ConvolutionInputs<BlockedConvolutionParam>)
    .Shape([](ShapeContext& c) {
      const auto& param = c.param<BlockedConvolutionParam>();
      return BlockedConvolutionShape(param, param.no_bias ? -1 : kBias, /*packed_weight=*/false, c);
    })
    .Type(SameType)
    .Gradient(Gradient)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_backward_blocked_convolution)
    .Describe("Gradients of _blocked_convolution with respect to data, weight and bias.")
    .Param<BlockedConvolutionParam>()
    .Inputs({"ograd", "data", "weight"})
    .Outputs(ConvolutionInputs<BlockedConvolutionParam>)
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_blocked_convolution, {{"kernel", "(3, 3)"}, {"num_filter", "16"}},
                  {{2, 3, 4, 5, 8}, {}, {}});

}  // namespace
}  // namespace cooper
