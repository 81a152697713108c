#include "executor/kernels/convolution/onednn_convolution.h"

#include "executor/kernels/convolution/onednn_engine.h"

namespace cooper {

using dnnl::memory;
using Options = BlockedProduct::Options;
using Result = BlockedProduct::Result;

namespace {

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Returns the description of a primitive. In oneDNN 2 it is made from an operation descriptor,
// which oneDNN 3 does not have.
template <typename Primitive, typename... Operation>
typename Primitive::primitive_desc Describe(const dnnl::primitive_attr& attr,
                                            const Operation&... operation) {
#if DNNL_VERSION_MAJOR >= 3
  return {OneDnnEngine(), operation..., attr};
#else
  return {{operation...}, attr, OneDnnEngine()};
#endif
}

// Returns the description of a gradient's primitive.
template <typename Primitive, typename... Operation>
typename Primitive::primitive_desc DescribeBackward(const ConvolutionForwardDesc& forward,
                                                    const Operation&... operation) {
#if DNNL_VERSION_MAJOR >= 3
  return {OneDnnEngine(), operation..., forward, UserScratch()};
#else
  return {{operation...}, UserScratch(), OneDnnEngine(), forward};
#endif
}

void AppendEltwise(dnnl::post_ops& ops, dnnl::algorithm algorithm, float alpha, float beta) {
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(algorithm, alpha, beta);
#else
  ops.append_eltwise(1, algorithm, alpha, beta);
#endif
}

}  // namespace

ConvolutionDescs::ConvolutionDescs(const ConvolutionProduct& p, const ConvolutionExtent& e) {
  image = {e.images, e.groups * e.channels};
  map = {e.images, e.groups * e.filters};
  if (p.groups > 1) weight.push_back(e.groups);
  weight.insert(weight.end(), {e.filters, e.channels});
  // oneDNN gets at least two spatial axes: a single one becomes two. An axis of extent 1 may still
  // have padding.
  const bool flat = p.g.in[0] == 1 && p.g.kernel[0] == 1 && p.g.out[0] == 1 && p.g.pad[0] == 0;
  for (int i = flat ? 1 : 0; i < 3; ++i) {
    image.push_back(p.g.in[i]);
    map.push_back(p.g.out[i]);
    weight.push_back(p.g.kernel[i]);
    stride.push_back(p.g.stride[i]);
    dilate.push_back(p.g.dilate[i] - 1);
    pad.push_back(p.g.pad[i]);
    const int64_t reach = p.g.dilate[i] * (p.g.kernel[i] - 1) + 1;
    pad_end.push_back((p.g.out[i] - 1) * p.g.stride[i] + reach - p.g.in[i] - p.g.pad[i]);
  }
  // The strides are those of the whole weight, of which this is a part.
  weight_strides.resize(weight.size());
  const size_t channel = p.groups > 1 ? 2 : 1;
  int64_t step = 1;
  for (size_t i = weight.size(); i-- > 0;) {
    weight_strides[i] = step;
    step *= i == channel ? p.g.channels : i + 1 == channel ? p.filters : weight[i];
  }
}

memory::desc ConvolutionDescs::Blocked(const memory::dims& dims) const {
  using enum memory::format_tag;
  const bool wide = OneDnnChannelBlock() == 16;
  const memory::format_tag tag =
      dims.size() == 4 ? (wide ? nChw16c : nChw8c) : (wide ? nCdhw16c : nCdhw8c);
  return {dims, memory::data_type::f32, tag};
}

memory::desc ConvolutionDescs::Image(bool plain) const {
  using enum memory::format_tag;
  if (!plain) return Blocked(image);
  return {image, memory::data_type::f32, image.size() == 4 ? nchw : ncdhw};
}

memory::desc ConvolutionDescs::PlainWeight() const {
  return {weight, memory::data_type::f32, weight_strides};
}

memory::desc ConvolutionDescs::AnyWeight() const {
  return {weight, memory::data_type::f32, memory::format_tag::any};
}

ConvolutionForwardDesc ForwardDescOf(const ConvolutionDescs& d, const Options& options) {
  dnnl::primitive_attr attr = UserScratch();
  if (options.result == Result::kMap) {
    dnnl::post_ops ops;
    if (options.add) ops.append_sum(1);
    if (options.relu) AppendEltwise(ops, dnnl::algorithm::eltwise_relu, 0, 0);
    if (options.clip) {
      AppendEltwise(ops, dnnl::algorithm::eltwise_clip, options.a_min, options.a_max);
    }
    attr.set_post_ops(ops);
  }
  const auto kind = options.result == Result::kMap ? dnnl::prop_kind::forward_inference
                                                   : dnnl::prop_kind::forward_training;
  const auto algorithm = options.algorithm == ConvolutionAlgorithm::kWinograd
                             ? dnnl::algorithm::convolution_winograd
                             : dnnl::algorithm::convolution_direct;
  if (options.bias) {
    const memory::desc bias({d.map[1]}, memory::data_type::f32, memory::format_tag::a);
    return Describe<dnnl::convolution_forward>(attr, kind, algorithm, d.Image(options.plain_image),
                                               d.AnyWeight(), bias, d.Blocked(d.map), d.stride,
                                               d.dilate, d.pad, d.pad_end);
  }
  return Describe<dnnl::convolution_forward>(attr, kind, algorithm, d.Image(options.plain_image),
                                             d.AnyWeight(), d.Blocked(d.map), d.stride, d.dilate,
                                             d.pad, d.pad_end);
}

ConvolutionDataDesc DataDescOf(const ConvolutionDescs& d, const ConvolutionForwardDesc& forward) {
  return DescribeBackward<dnnl::convolution_backward_data>(
      forward, dnnl::algorithm::convolution_direct, d.Blocked(d.image), d.AnyWeight(),
      d.Blocked(d.map), d.stride, d.dilate, d.pad, d.pad_end);
}

ConvolutionWeightDesc WeightDescOf(const ConvolutionDescs& d, const Options& options,
                                   const ConvolutionForwardDesc& forward) {
  return DescribeBackward<dnnl::convolution_backward_weights>(
      forward, dnnl::algorithm::convolution_direct, d.Image(options.plain_image), d.AnyWeight(),
      d.Blocked(d.map), d.stride, d.dilate, d.pad, d.pad_end);
}

}  // namespace cooper
