#ifndef COOPER_SYMBOL_OPS_NN_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_CONVOLUTION_PARAM_H_

// Arrays and parameters of Convolution and Deconvolution. The schemas are in convolution.cc, the
// shape rule in convolution_shape.cc, the parameters' tuples in window_param.h. MXNet:
// src/operator/nn/convolution.cc, deconvolution.cc.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, spatial...), weight (num_filter, channels / num_group,
// kernel...), bias (num_filter,) unless no_bias. With a layout that has channels last, the axes of
// data, output and weight are in that order: weight (num_filter, kernel..., channels / num_group).
struct ConvolutionArrays {
  enum Input { kData, kWeight, kBias };
};
// Arrays of the gradients. The gradient of data reads only the weight, that of the weight only
// data. Gradients that are not requested are not computed. The gradient of bias is the sum of ograd
// over all axes but channels.
struct ConvolutionGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad, kBiasGrad };
};

// The choice of cuDNN's algorithm on a GPU. It has no effect on a CPU.
enum class CudnnTune {
  kDefault,           // by its heuristics, unless COOPER_CUDNN_TUNE is 1 in the environment
  kOff,               // by its heuristics
  kLimitedWorkspace,  // the fastest one within the operator's workspace
  kFastest,           // the fastest one
};

// Parameters of Convolution, a cross-correlation (the kernel is not flipped). For one spatial axis,
// with p positions of the output, k of the kernel, and c the channels of filter f's group,
//
//   output[n, f, p] = bias[f] + sum over c and k of weight[f, c, k] * data[n, c, q],
//                     q = p * stride - pad + k * dilate
//
// where data outside of the image is 0. The output has (extent + 2 pad - dilate * (kernel - 1) - 1)
// / stride + 1 positions, rounded down. Costs 2 FLOPs per element of the output and of a filter.
struct ConvolutionParam {
  // One number per spatial axis, 1 to 3 of them. The other tuples are empty, which is 1 for stride
  // and dilate and 0 for pad, or as long as kernel.
  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple dilate;
  WindowTuple pad;
  int64_t num_filter = 0;
  // Channels and filters are divided into this many groups; filters of a group read its channels
  // only. Must divide both. num_group = channels is a depthwise convolution.
  int64_t num_group = 1;
  // Limit of cuDNN's scratch memory in MiB; no effect on a CPU.
  int64_t workspace = 1024;
  bool no_bias = false;
  CudnnTune cudnn_tune = CudnnTune::kDefault;
  // Whether a GPU uses cooper's own kernels.
  bool cudnn_off = false;
  Layout layout = Layout::kDefault;

  // Declares the fields for a derived struct P.
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
    d.template Enum<Layout>("layout", &P::layout, kLayoutNames)
        .Doc("order of the axes; channels first if None");
  }

  static void Declare(ParamDeclaration<ConvolutionParam>& d) { DeclareFields(d); }
};

// Parameters of Deconvolution, the transpose of Convolution: its output is the gradient of data of
// a Convolution with this weight (channels, num_filter / num_group, kernel...), plus bias. The
// extent of a spatial axis of the output is
//
//   stride * (extent - 1) + dilate * (kernel - 1) + 1 - 2 * pad + adj
//
// Unlike in Convolution, no_bias is true by default, as in MXNet.
struct DeconvolutionParam : ConvolutionParam {
  DeconvolutionParam() {
    no_bias = true;
    workspace = 512;
  }

  // Elements added at the end of each spatial axis, less than stride; they choose between the sizes
  // that Convolution maps to one size.
  WindowTuple adj;
  // Spatial extents of the output. If set, pad and adj follow from it and their attributes are
  // ignored.
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
