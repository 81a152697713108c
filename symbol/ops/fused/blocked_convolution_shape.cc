#include "symbol/ops/fused/blocked_convolution_shape.h"

#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/blocked_shape.h"
#include "symbol/ops/nn/convolution_shape.h"

namespace cooper {

absl::Status BlockedConvolutionShape(const BlockedConvolutionParam& param, int bias,
                                     bool packed_weight, ShapeContext& c) {
  using enum ConvolutionArrays::Input;
  if (ChannelsLast(param.layout)) {
    return absl::InvalidArgumentError("channels are the last axis, expected axis 1");
  }
  PartialShape data = c.input(kData);
  if (!data.IsFull()) return absl::OkStatus();
  if (!param.plain_data) {
    COOPER_ASSIGN_OR_RETURN(data, PlainShape(data, param.block));
  }
  PartialShape weight = packed_weight ? PartialShape() : c.input(kWeight), filters, output;
  PartialShape* const inputs[] = {&data, &weight, &filters};
  PartialShape* const outputs[] = {&output};
  ShapeContext plain(c.call(), inputs, outputs, {});
  COOPER_RETURN_IF_ERROR(ConvolutionShape(param, plain));
  if (!packed_weight) COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, weight));
  if (bias >= 0) COOPER_RETURN_IF_ERROR(c.SetInput(bias, filters, "(num_filter,)"));
  COOPER_ASSIGN_OR_RETURN(output, BlockedShape(output, param.block));
  return c.SetOutput(0, output);
}

}  // namespace cooper
