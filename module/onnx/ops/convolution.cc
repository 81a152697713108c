// Convolution and Deconvolution.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "module/onnx/ops/window_attrs.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/window_param.h"

namespace cooper {
namespace {

using enum ConvolutionArrays::Input;

std::vector<std::string> InputsOf(NodeExport& c, const ConvolutionParam& param) {
  std::vector<std::string> inputs = {c.input(kData), c.input(kWeight)};
  if (!param.no_bias) inputs.push_back(c.input(kBias));
  return inputs;
}

absl::Status ExportConvolution(NodeExport& c) {
  const auto& param = c.param<ConvolutionParam>();
  if (ChannelsLast(param.layout)) return c.Refuse("its layout has channels last");
  const int axes = static_cast<int>(param.kernel.size());
  c.Return(c.Emit("Conv", InputsOf(c, param),
                  {{"kernel_shape", param.kernel},
                   {"strides", FullTuple(param.stride, axes, 1)},
                   {"dilations", FullTuple(param.dilate, axes, 1)},
                   {"pads", BothSides(FullTuple(param.pad, axes, 0))},
                   {"group", param.num_group}}));
  return absl::OkStatus();
}

absl::Status ExportDeconvolution(NodeExport& c) {
  const auto& param = c.param<DeconvolutionParam>();
  if (ChannelsLast(param.layout)) return c.Refuse("its layout has channels last");
  const int axes = static_cast<int>(param.kernel.size());
  WindowTuple pads, adjs;
  for (int i = 0; i < axes; ++i) {
    const Extent& extent = c.shape(kData)[2 + i];
    if (param.has_target_shape()) {
      COOPER_RETURN_IF_ERROR(c.NeedsNumbers({extent}, "data, with target_shape,"));
    }
    const auto [pad, adj] = param.PadAndAdj(i, extent.number());
    pads.push_back(pad);
    adjs.push_back(adj);
  }
  c.Return(c.Emit("ConvTranspose", InputsOf(c, param),
                  {{"kernel_shape", param.kernel},
                   {"strides", FullTuple(param.stride, axes, 1)},
                   {"dilations", FullTuple(param.dilate, axes, 1)},
                   {"pads", BothSides(pads)},
                   {"output_padding", adjs},
                   {"group", param.num_group}}));
  return absl::OkStatus();
}

const OnnxRegistrar kConvolution({"Convolution", "Convolution_v1"}, "Conv", ExportConvolution);
COOPER_ONNX_EXPORT(Deconvolution, "ConvTranspose", ExportDeconvolution);

}  // namespace
}  // namespace cooper
