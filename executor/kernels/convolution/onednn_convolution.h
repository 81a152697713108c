#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_

// Descriptions of convolutions for oneDNN, for the products of onednn_product.h. They hide the
// differences between oneDNN 2 and 3. All arrays are float32.

#include <cstddef>
#include <cstdint>

#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

// A part of a convolution: `images` images and `groups` groups, or, where there is only one group,
// `filters` of its filters and `channels` of its channels. `channels` and `filters` are those of
// one group.
struct ConvolutionExtent {
  int64_t images, groups, channels, filters;
};

// The dimensions of a part of a convolution, in oneDNN's terms. There are two or three spatial
// axes.
//
//   - The weight has an axis of groups in front if the convolution has several.
//   - Dilations are less by 1 than cooper's.
//   - The padding at the end is such that the last window ends there.
struct ConvolutionDescs {
  dnnl::memory::dims image, map, weight, weight_strides, stride, dilate, pad, pad_end;

  // `weight_strides` are those of the whole plain weight of `p`, of which the part is a view.
  ConvolutionDescs(const ConvolutionProduct& p, const ConvolutionExtent& e);

  // Descriptions of the part's image, its map, and the part's weight within a plain weight.
  // Blocked(dims) has channels in blocks of OneDnnChannelBlock(); Image(plain) is blocked or plain.
  dnnl::memory::desc Blocked(const dnnl::memory::dims& dims) const;
  dnnl::memory::desc Image(bool plain) const;
  dnnl::memory::desc PlainWeight() const;
  // A weight in the layout that oneDNN prefers for the primitive.
  dnnl::memory::desc AnyWeight() const;
};

// The descriptions of the three products' primitives.
using ConvolutionForwardDesc = dnnl::convolution_forward::primitive_desc;
using ConvolutionDataDesc = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionWeightDesc = dnnl::convolution_backward_weights::primitive_desc;

// Return descriptions of the primitives, with scratch memory provided by the caller. They throw
// dnnl::error if oneDNN has no implementation. The gradients need the description of the forward
// product as a hint. ForwardDescOf adds bias, sum, relu and clip for Result::kMap only; the sum of
// gradients is the caller's.
ConvolutionForwardDesc ForwardDescOf(const ConvolutionDescs& d,
                                     const BlockedProduct::Options& options);
ConvolutionDataDesc DataDescOf(const ConvolutionDescs& d, const ConvolutionForwardDesc& forward);
ConvolutionWeightDesc WeightDescOf(const ConvolutionDescs& d,
                                   const BlockedProduct::Options& options,
                                   const ConvolutionForwardDesc& forward);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_
