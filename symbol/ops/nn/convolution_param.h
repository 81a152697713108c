#ifndef COOPER_SYMBOL_OPS_NN_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_CONVOLUTION_PARAM_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, spatial...), weight (num_filter, channels / num_group,
// kernel...), bias (num_filter,) unless no_bias.
struct ConvolutionArrays {
  enum Input { kData, kWeight, kBias };
};
struct ConvolutionGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad, kBiasGrad };
};

// How cuDNN's algorithm is chosen on a GPU.
enum class CudnnTune {
  kDefault,           // by its heuristics, unless COOPER_CUDNN_TUNE is 1 in the environment
  kOff,               // by its heuristics
  kLimitedWorkspace,  // the fastest one within the operator's workspace
  kFastest,           // the fastest one
};

// Parameters of Convolution.
struct ConvolutionParam {
  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple dilate;
  WindowTuple pad;
  int64_t num_filter = 0;
  int64_t num_group = 1;
  int64_t workspace = 1024;
  bool no_bias = false;
  CudnnTune cudnn_tune = CudnnTune::kDefault;
  bool cudnn_off = false;
  Layout layout = Layout::kDefault;

  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<WindowTuple>("kernel", &P::kernel)
        .Required()
        .Doc("extents of the window: (w,), (h, w) or (d, h, w)");
    d.template Field<WindowTuple>("stride", &P::stride).Doc("steps of the window; 1 if absent");
    d.template Field<WindowTuple>("dilate", &P::dilate)
        .Doc("distances of the elements that a window takes; 1 if absent");
    d.template Field<WindowTuple>("pad", &P::pad).Doc("zeros on both sides; 0 if absent");
    d.template Field<int64_t>("num_filter", &P::num_filter)
        .Required()
        .Min(1)
        .Doc("channels of the output");
    d.template Field<int64_t>("num_group", &P::num_group)
        .Min(1)
        .Doc("parts that channels are split into");
    d.template Field<int64_t>("workspace", &P::workspace)
        .Doc("most MiB of scratch memory for cuDNN, on a gpu");
    d.template Field<bool>("no_bias", &P::no_bias).Doc("whether there is no bias input");
    d.template Enum<CudnnTune>("cudnn_tune", &P::cudnn_tune,
                               {{"None", CudnnTune::kDefault},
                                {"off", CudnnTune::kOff},
                                {"limited_workspace", CudnnTune::kLimitedWorkspace},
                                {"fastest", CudnnTune::kFastest}})
        .Doc(
            "how cuDNN's way is chosen, on a gpu: off or None: by its heuristics; "
            "limited_workspace: the fastest that workspace allows; fastest: of all");
    d.template Field<bool>("cudnn_off", &P::cudnn_off).Doc("whether to do without cuDNN, on a gpu");
    d.template Enum<Layout>("layout", &P::layout, LayoutNames())
        .Doc("order of the axes; channels first if None");
  }

  static void Declare(ParamDeclaration<ConvolutionParam>& d) { DeclareFields(d); }
};

// Parameters of Deconvolution, whose weight is (channels, num_filter / num_group, kernel...).
struct DeconvolutionParam : ConvolutionParam {
  DeconvolutionParam() {
    no_bias = true;
    workspace = 512;
  }

  WindowTuple adj;
  WindowTuple target_shape;

  static void Declare(ParamDeclaration<DeconvolutionParam>& d) {
    DeclareFields(d);
    d.Field("adj", &DeconvolutionParam::adj).Doc("elements added at the end of each output axis");
    d.Field("target_shape", &DeconvolutionParam::target_shape)
        .Doc("spatial extents of the output; pad and adj follow from it");
  }

  // As in MXNet, a tuple of zeros counts as not set.
  bool has_target_shape() const {
    return std::any_of(target_shape.begin(), target_shape.end(), [](int64_t t) { return t != 0; });
  }

  // Returns the output's extent of spatial axis i without padding and added elements, for an input
  // extent `extent`. On overflow returns the greatest int64.
  int64_t WholeExtent(int i, int64_t extent) const {
    const int64_t step = WindowValue(stride, i, 1);
    const int64_t reach = DilatedExtent(kernel[i], WindowValue(dilate, i, 1));
    return extent == 0 ? reach - step : ExtentSum(ExtentProduct(extent - 1, step), reach);
  }

  // Returns the padding and the added elements of spatial axis i, whose input extent is `extent`.
  // Requires target_shape <= WholeExtent < the greatest int64.
  std::pair<int64_t, int64_t> PadAndAdj(int i, int64_t extent) const {
    if (!has_target_shape()) return {WindowValue(pad, i, 0), WindowValue(adj, i, 0)};
    const int64_t excess = WholeExtent(i, extent) - target_shape[i];
    return {(excess + 1) / 2, excess % 2};
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_CONVOLUTION_PARAM_H_
