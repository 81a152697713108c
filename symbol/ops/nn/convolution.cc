// Convolution and Deconvolution in one to three dimensions. MXNet: src/operator/nn/convolution.cc,
// deconvolution.cc.

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum ConvolutionArrays::Input;

absl::Status ConvolutionShapeOf(ShapeContext& c) {
  return ConvolutionShape(c.param<ConvolutionParam>(), c);
}

// Shape rule: data (batch_size, channels, spatial...), weight (channels, num_filter / num_group,
// kernel...), bias (num_filter,), output (batch_size, num_filter, stride * (extent - 1) + reach - 2
// pad + adj...).
absl::Status DeconvolutionShape(ShapeContext& c) {
  const auto& param = c.param<DeconvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckConvolutionParam(param));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("adj", param.adj, param.kernel, 0));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("target_shape", param.target_shape, param.kernel, 0));
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kBias, {param.num_filter}, "(num_filter,)"));
  }
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  int64_t channels = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckConvolutionData(param, data, &channels));
  COOPER_RETURN_IF_ERROR(c.SetInput(
      kWeight, OrderedShape(param, channels, param.num_filter / param.num_group, param.kernel),
      "(channels, num_filter / num_group, kernel...)"));

  const int first = ChannelsLast(param.layout) ? 1 : 2;
  const int spatial = static_cast<int>(param.kernel.size());
  WindowTuple extents(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (!data.dim_known(first + i)) continue;
    const int64_t stride = WindowValue(param.stride, i, 1);
    const int64_t whole = param.WholeExtent(i, data[first + i]);
    // Leaves room for adj, which is added to the extent.
    if (whole > std::numeric_limits<int64_t>::max() - kMaxWindowValue) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", param.kernel[i], " and stride ", stride, " make spatial axis ", i,
                       " of the output too long; input 'data' is ", data.ToString()));
    }
    if (param.has_target_shape() && param.target_shape[i] > whole) {
      return absl::InvalidArgumentError(
          absl::StrCat("target_shape ", param.target_shape[i], " of spatial axis ", i,
                       " is larger than the ", whole, " elements of the output without padding"));
    }
    const auto [pad, adj] = param.PadAndAdj(i, data[first + i]);
    if (adj >= stride || pad < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("spatial axis ", i, ": adj ", adj, " is not below stride ", stride,
                       param.has_target_shape() ? ", or target_shape cannot be reached" : ""));
    }
    extents[i] = whole - 2 * pad + adj;
    if (extents[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("pad ", pad, " is larger than spatial axis ", i, " of the output"));
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, OrderedShape(param, data[0], param.num_filter, extents)));
  return c.SetInput(
      kData, OrderedShape(param, c.output(0)[0], channels, WindowTuple(spatial, kUnknownDim)));
}

// Gradient rule: the gradient of one factor needs only the other factor.
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()),
                    {head, c.input(kData), c.input(kWeight)});
}

template <typename Param>
OpBuilder Forward(const char* name, OpSchema::ShapeFn shape) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs(ConvolutionInputs<Param>)
      .Shape(std::move(shape))
      .Type(SameType)
      .Gradient(Gradient)
      .Kind(OpKind::kLayer)
      .Summary([](AttrMap& params) {
        return absl::StrCat(WindowSummary(params), ", ", params["num_filter"]);
      });
}

template <typename Param>
OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradients with respect to data, weight and bias.")
      .Param<Param>()
      .Inputs({"ograd", "data", "weight"})
      .Outputs(ConvolutionInputs<Param>)
      .Shape(GradientShape)
      .Type(GradientType);
}

const OpRegistrar kRegistrars[] = {
    Forward<ConvolutionParam>("Convolution", ConvolutionShapeOf)
        .Describe("Cross-correlation of data with weight over the spatial axes, plus bias.")
        .Alias("_npx_convolution"),
    Backward<ConvolutionParam>("_backward_Convolution"),
    Forward<ConvolutionParam>("Convolution_v1", ConvolutionShapeOf)
        .Describe("Convolution as old files name it."),
    Backward<ConvolutionParam>("_backward_Convolution_v1"),
    Forward<DeconvolutionParam>("Deconvolution", DeconvolutionShape)
        .Describe("The transpose of Convolution: its gradient with respect to data, plus bias.")
        .Alias("_npx_deconvolution"),
    Backward<DeconvolutionParam>("_backward_Deconvolution"),
};

}  // namespace
}  // namespace cooper
