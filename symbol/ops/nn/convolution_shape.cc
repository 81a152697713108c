#include "symbol/ops/nn/convolution_shape.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/extent_product.h"

namespace cooper {

using enum ConvolutionArrays::Input;

absl::Status CheckConvolutionParam(const ConvolutionParam& param) {
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

absl::Status CheckConvolutionData(const ConvolutionParam& param, const PartialShape& data,
                                  int64_t* channels) {
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

PartialShape OrderedShape(const ConvolutionParam& param, int64_t first, int64_t channels,
                          const WindowTuple& spatial) {
  PartialShape shape = PartialShape::OfRank(static_cast<int>(spatial.size()) + 2);
  const bool last = ChannelsLast(param.layout);
  shape[0] = first;
  shape[last ? shape.rank() - 1 : 1] = channels;
  for (size_t i = 0; i < spatial.size(); ++i)
    shape[static_cast<int>(i) + (last ? 1 : 2)] = spatial[i];
  return shape;
}

absl::Status ConvolutionShape(const ConvolutionParam& param, ShapeContext& c, int weight) {
  COOPER_RETURN_IF_ERROR(CheckConvolutionParam(param));
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(c.SetInput(weight + 1, {param.num_filter}, "(num_filter,)"));
  }
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  int64_t channels = kUnknownDim;
  COOPER_RETURN_IF_ERROR(CheckConvolutionData(param, data, &channels));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(weight,
                 OrderedShape(param, param.num_filter,
                              channels == kUnknownDim ? kUnknownDim : channels / param.num_group,
                              param.kernel),
                 "(num_filter, channels / num_group, kernel...)"));

  const int first = ChannelsLast(param.layout) ? 1 : 2;
  const int spatial = static_cast<int>(param.kernel.size());
  WindowTuple extents(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (!data.dim_known(first + i)) continue;
    const int64_t padded = ExtentSum(data[first + i], 2 * WindowValue(param.pad, i, 0));
    const int64_t reach = DilatedExtent(param.kernel[i], WindowValue(param.dilate, i, 1));
    if (reach > padded) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the kernel reaches over ", reach, " elements of axis ", first + i, " of input 'data' ",
          data.ToString(), ", which has ", padded, " with its padding"));
    }
    extents[i] = (padded - reach) / WindowValue(param.stride, i, 1) + 1;
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, OrderedShape(param, data[0], param.num_filter, extents)));

  const PartialShape& output = c.output(0);
  WindowTuple back(spatial, kUnknownDim);
  for (int i = 0; i < spatial; ++i) {
    if (!output.dim_known(first + i) || WindowValue(param.stride, i, 1) != 1) continue;
    const int64_t reach = DilatedExtent(param.kernel[i], WindowValue(param.dilate, i, 1));
    const int64_t padding = 2 * WindowValue(param.pad, i, 0);
    back[i] = ExtentSum(output[first + i], reach - 1) - padding;
    if (back[i] < 0) {  // -1 would be taken for unknown
      return absl::InvalidArgumentError(
          absl::StrCat("output 'output' ", output.ToString(), " has too few elements at axis ",
                       first + i, ", where input 'data' has ", padding, " of padding alone"));
    }
  }
  return c.SetInput(kData, OrderedShape(param, output[0], channels, back));
}

}  // namespace cooper
