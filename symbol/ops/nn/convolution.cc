// Convolution and Deconvolution in one to three dimensions. MXNet: src/operator/nn/convolution.cc,
// deconvolution.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/shape_context.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

using enum ConvolutionArrays::Input;

template <typename Param>
OpSchema::Names Inputs(const OpCall& call) {
  if (call.param<Param>().no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

absl::Status CheckParam(const ConvolutionParam& param) {
  if (param.kernel.empty() || param.kernel.size() > 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel has ", param.kernel.size(), " values, expected 1, 2 or 3: the spatial axes"));
  }
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("kernel", param.kernel, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("stride", param.stride, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("dilate", param.dilate, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("pad", param.pad, param.kernel, 0));
  if (param.num_filter % param.num_group != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_group ", param.num_group, " does not divide num_filter ", param.num_filter));
  }
  return absl::OkStatus();
}

// Checks data's rank and its channels, which are `*channels` then.
absl::Status CheckData(const ConvolutionParam& param, const PartialShape& data, int64_t* channels) {
  const int spatial = static_cast<int>(param.kernel.size());
  if (data.rank() != spatial + 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' has shape ", data.ToString(), ", expected ", spatial + 2,
                     " axes: batch, channels and the ", spatial, " of kernel"));
  }
  *channels = data[ChannelsLast(param.layout) ? data.rank() - 1 : 1];
  if (*channels != kUnknownDim && *channels % param.num_group != 0) {
    return absl::InvalidArgumentError(absl::StrCat("num_group ", param.num_group,
                                                   " does not divide the ", *channels,
                                                   " channels of input 'data' ", data.ToString()));
  }
  return absl::OkStatus();
}

// The shape (first, channels, spatial...) in the order that layout says.
PartialShape Ordered(const ConvolutionParam& param, int64_t first, int64_t channels,
                     const WindowTuple& spatial) {
  PartialShape shape = PartialShape::OfRank(static_cast<int>(spatial.size()) + 2);
  const bool last = ChannelsLast(param.layout);
  shape[0] = first;
  shape[last ? shape.rank() - 1 : 1] = channels;
  for (size_t i = 0; i < spatial.size(); ++i)
    shape[static_cast<int>(i) + (last ? 1 : 2)] = spatial[i];
  return shape;
}

// data (batch_size, channels, spatial...), weight (num_filter, channels / num_group, kernel...),
// bias (num_filter,), output (batch_size, num_filter, (extent + 2 pad - reach) / stride + 1...).
// Extents flow back only where stride is 1.
absl::Status ConvolutionShape(ShapeContext& c) {
  const auto& param = c.param<ConvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kBias, {param.num_filter}, "(num_filter,)"));
  }
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  int64_t channels = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckData(param, data, &channels));
  COOPER_RETURN_IF_ERROR(c.SetInput(
      kWeight,
      Ordered(param, param.num_filter,
              channels == kUnknownDim ? kUnknownDim : channels / param.num_group, param.kernel),
      "(num_filter, channels / num_group, kernel...)"));

  const int first = ChannelsLast(param.layout) ? 1 : 2;
  const int spatial = static_cast<int>(param.kernel.size());
  WindowTuple extents(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (!data.dim_known(first + i)) continue;
    const int64_t padded = data[first + i] + 2 * WindowValue(param.pad, i, 0);
    const int64_t reach = DilatedExtent(param.kernel[i], WindowValue(param.dilate, i, 1));
    if (reach > padded) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the kernel reaches over ", reach, " elements of axis ", first + i, " of input 'data' ",
          data.ToString(), ", which has ", padded, " with its padding"));
    }
    extents[i] = (padded - reach) / WindowValue(param.stride, i, 1) + 1;
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, Ordered(param, data[0], param.num_filter, extents)));

  const PartialShape& output = c.output(0);
  WindowTuple back(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (output.dim_known(first + i) && WindowValue(param.stride, i, 1) == 1) {
      back[i] = output[first + i] +
                DilatedExtent(param.kernel[i], WindowValue(param.dilate, i, 1)) - 1 -
                2 * WindowValue(param.pad, i, 0);
    }
  }
  return c.SetInput(kData, Ordered(param, output[0], channels, back));
}

// data (batch_size, channels, spatial...), weight (channels, num_filter / num_group, kernel...),
// bias (num_filter,), output (batch_size, num_filter,
// stride * (extent - 1) + reach - 2 pad + adj...).
absl::Status DeconvolutionShape(ShapeContext& c) {
  const auto& param = c.param<DeconvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("adj", param.adj, param.kernel, 0));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("target_shape", param.target_shape, param.kernel, 0));
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kBias, {param.num_filter}, "(num_filter,)"));
  }
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  int64_t channels = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckData(param, data, &channels));
  COOPER_RETURN_IF_ERROR(c.SetInput(
      kWeight, Ordered(param, channels, param.num_filter / param.num_group, param.kernel),
      "(channels, num_filter / num_group, kernel...)"));

  const int first = ChannelsLast(param.layout) ? 1 : 2;
  const int spatial = static_cast<int>(param.kernel.size());
  WindowTuple extents(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (!data.dim_known(first + i)) continue;
    const int64_t stride = WindowValue(param.stride, i, 1);
    const auto [pad, adj] = param.PadAndAdj(i, data[first + i]);
    if (adj >= stride || pad < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("spatial axis ", i, ": adj ", adj, " is not below stride ", stride,
                       param.has_target_shape() ? ", or target_shape cannot be reached" : ""));
    }
    extents[i] = stride * (data[first + i] - 1) +
                 DilatedExtent(param.kernel[i], WindowValue(param.dilate, i, 1)) - 2 * pad + adj;
    if (extents[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("pad ", pad, " is larger than spatial axis ", i, " of the output"));
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, Ordered(param, data[0], param.num_filter, extents)));
  return c.SetInput(kData,
                    Ordered(param, c.output(0)[0], channels, WindowTuple(spatial, kUnknownDim)));
}

// Each gradient needs the other factor of the product alone.
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()),
                    {head, c.input(kData), c.input(kWeight)});
}

template <typename Param>
OpBuilder Forward(const char* name, OpSchema::ShapeFn shape) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs(Inputs<Param>)
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
      .Outputs(Inputs<Param>)
      .Shape(GradientShape)
      .Type(GradientType);
}

const OpRegistrar kRegistrars[] = {
    Forward<ConvolutionParam>("Convolution", ConvolutionShape)
        .Describe("Cross-correlation of data with weight over the spatial axes, plus bias.")
        .Alias("_npx_convolution"),
    Backward<ConvolutionParam>("_backward_Convolution"),
    Forward<ConvolutionParam>("Convolution_v1", ConvolutionShape)
        .Describe("Convolution as old files name it."),
    Backward<ConvolutionParam>("_backward_Convolution_v1"),
    Forward<DeconvolutionParam>("Deconvolution", DeconvolutionShape)
        .Describe("The transpose of Convolution: its gradient with respect to data, plus bias.")
        .Alias("_npx_deconvolution"),
    Backward<DeconvolutionParam>("_backward_Deconvolution"),
};

}  // namespace
}  // namespace cooper
