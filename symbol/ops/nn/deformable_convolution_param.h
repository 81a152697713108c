#ifndef COOPER_SYMBOL_OPS_NN_DEFORMABLE_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_DEFORMABLE_CONVOLUTION_PARAM_H_

// Arrays and parameters of _contrib_DeformableConvolution (Dai et al., 2017) and
// _contrib_ModulatedDeformableConvolution (Zhu et al., Deformable ConvNets v2, 2019), convolutions
// whose windows take elements at positions that the network computes. The schemas are in
// deformable_convolution.cc, the sampling points in
// executor/kernels/convolution/deformable_point.h. MXNet:
// src/operator/contrib/deformable_convolution.cc, modulated_deformable_convolution.cc.

#include <cstdint>

#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of _contrib_DeformableConvolution: data (batch_size, channels, height, width); offset
// (batch_size, num_deformable_group * kernel elements * 2, out height, out width), the shifts along
// y and x of each element of each window; weight and bias as in Convolution. All arrays have one
// dtype, float32 or float64.
struct DeformableConvolutionArrays {
  enum Input { kData, kOffset, kWeight, kBias };
};
struct DeformableConvolutionGradientArrays {
  enum Input { kOgrad, kData, kOffset, kWeight };
  enum Output { kDataGrad, kOffsetGrad, kWeightGrad, kBiasGrad };
};
// Inputs of _contrib_ModulatedDeformableConvolution: also mask (batch_size, num_deformable_group *
// kernel elements, out height, out width), the factors of the elements.
struct ModulatedDeformableConvolutionArrays {
  enum Input { kData, kOffset, kMask, kWeight, kBias };
};
struct ModulatedDeformableConvolutionGradientArrays {
  enum Input { kOgrad, kData, kOffset, kMask, kWeight };
  enum Output { kDataGrad, kOffsetGrad, kMaskGrad, kWeightGrad, kBiasGrad };
};

// A Convolution with two spatial axes in which element (i, j) of a window is data at the position
//
//   y = window_y * stride - pad + i * dilate + offset_y, and x likewise,
//
// interpolated between four pixels. Channels are divided into num_deformable_group groups, each
// with offsets and masks of its own. In the plain operator a position outside of the pixels counts
// as 0, and one beyond the last pixel has its value; in the modulated operator the image continues
// as 0, and the element is multiplied by mask.
struct DeformableConvolutionParam : ConvolutionParam {
  int64_t num_deformable_group = 1;

  // Declares the fields for a derived struct P.
  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<WindowTuple>("kernel", &P::kernel)
        .Required()
        .Doc("extents of the window: (h, w)");
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
    d.template Field<int64_t>("num_deformable_group", &P::num_deformable_group)
        .Min(1)
        .Doc("parts of channels with offsets of their own");
    d.template Field<int64_t>("workspace", &P::workspace).Min(0).Doc("accepted, without a meaning");
    d.template Field<bool>("no_bias", &P::no_bias).Doc("whether there is no bias input");
    d.template Enum<Layout>("layout", &P::layout,
                            {{"None", Layout::kDefault},
                             {"NCW", Layout::kNCW},
                             {"NCHW", Layout::kNCHW},
                             {"NCDHW", Layout::kNCDHW}})
        .Doc("order of the axes; only NCHW, the default, has two spatial axes");
  }

  static void Declare(ParamDeclaration<DeformableConvolutionParam>& d) { DeclareFields(d); }
};

struct ModulatedDeformableConvolutionParam : DeformableConvolutionParam {
  // Has no effect: the number of images that MXNet computes at once.
  int64_t im2col_step = 64;

  static void Declare(ParamDeclaration<ModulatedDeformableConvolutionParam>& d) {
    DeclareFields(d);
    d.Field("im2col_step", &ModulatedDeformableConvolutionParam::im2col_step)
        .Min(1)
        .Doc("accepted, without a meaning");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_DEFORMABLE_CONVOLUTION_PARAM_H_
