#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_

// Convolutions as oneDNN describes them.

#include <cstddef>
#include <cstdint>

#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

// The convolution of `images` images that has `groups` of the groups, or of the only group
// `filters` of its filters and `channels` of its channels.
struct ConvolutionExtent {
  int64_t images, groups, channels, filters;
};

// What oneDNN wants to know of one.
struct ConvolutionDescs {
  dnnl::memory::dims image, map, weight, weight_strides, stride, dilate, pad, pad_end;

  ConvolutionDescs(const ConvolutionProduct& p, const ConvolutionExtent& e);

  // Descriptions of the whole arrays, and of a part of a plain weight.
  dnnl::memory::desc Blocked(const dnnl::memory::dims& dims) const;
  dnnl::memory::desc Image(bool plain) const;
  dnnl::memory::desc PlainWeight() const;
  // In the order that oneDNN likes best.
  dnnl::memory::desc AnyWeight() const;
};

using ConvolutionForwardDesc = dnnl::convolution_forward::primitive_desc;
using ConvolutionDataDesc = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionWeightDesc = dnnl::convolution_backward_weights::primitive_desc;

// They throw dnnl::error where oneDNN has no code. Scratch memory is the caller's.
ConvolutionForwardDesc ForwardDescOf(const ConvolutionDescs& d,
                                     const BlockedProduct::Options& options);
ConvolutionDataDesc DataDescOf(const ConvolutionDescs& d, const ConvolutionForwardDesc& forward);
ConvolutionWeightDesc WeightDescOf(const ConvolutionDescs& d,
                                   const BlockedProduct::Options& options,
                                   const ConvolutionForwardDesc& forward);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_CONVOLUTION_H_
