#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOWS_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOWS_H_

// Computes the positions of Pooling's windows in images of up to three spatial axes. For .cu files.
//
// pooling.cu has the kernels. Here a thread computes the spans of its window when it needs them,
// while pooling_window.h on the CPU stores them.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/pooling/pooling_span.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {

// The elements [begin, end) of a window along one axis, and their number with padding. PoolingSpan
// (pooling_span.h) with numbers of type I.
template <typename I>
struct PoolingAxisSpan {
  I begin, end, with_pad;
  bool padded;
};

// The extents of images and of the windows over them, passed to kernels by value. I, int32_t or
// int64_t, is the type of element indices: 32-bit divisions are faster. Images have three spatial
// axes; missing ones have extent 1 and come first. Sizes are in elements. The struct has no
// pointers, so one serves input, output and gradients.
template <typename I>
struct PoolingGeometry {
  // By axis: depth, height, width.
  I in[3], out[3], kernel[3], stride[3], pad[3];
  // channels_last is true for layouts such as NHWC; count_pad is count_include_pad; v1 is
  // Pooling_v1.
  I channels = 1;
  bool channels_last = false, count_pad = true, v1 = false;
  // max, avg, sum or lp.
  PoolingParam::Type type = PoolingParam::kMax;
  int p = 1;  // the exponent of lp pooling

  // Returns the number of elements of a plane of the input; out_size that of the output.
  __host__ __device__ I in_size() const { return in[0] * in[1] * in[2]; }
  __host__ __device__ I out_size() const { return out[0] * out[1] * out[2]; }
  // Returns the distance between neighbouring elements of a plane.
  __device__ I step() const { return channels_last ? channels : 1; }
  // Returns the offset of a plane's first element, in an array whose planes have `size` elements.
  // `size` is in_size() or out_size(); `n` is the image.
  __device__ I Begin(I n, I channel, I size) const {
    return n * channels * size + channel * (channels_last ? 1 : size);
  }
  // Returns the span of the window at `position` along an axis. `axis` is 0 for depth, 1 for
  // height, 2 for width.
  __device__ PoolingAxisSpan<I> SpanAt(int axis, I position) const {
    const PoolingSpan s = PoolingSpanAt(position, stride[axis], pad[axis], kernel[axis], in[axis]);
    return {static_cast<I>(s.begin), static_cast<I>(s.end), static_cast<I>(s.with_pad), s.padded};
  }
  // Returns how many window strides fit into `elements`. Most axes have stride 1 and need no
  // division.
  __device__ I Steps(int axis, I elements) const {
    return stride[axis] == 1 ? elements : elements / stride[axis];
  }
  // Returns whether an image has one window that covers all of it.
  // Such an image needs one reduction and no positions.
  bool IsGlobal() const {
    for (int axis = 0; axis < 3; ++axis) {
      if (out[axis] != 1 || pad[axis] != 0 || kernel[axis] != in[axis]) return false;
    }
    return true;
  }

  // Returns the same geometry with numbers of type J, which must hold them. The caller checks that
  // they do.
  template <typename J>
  PoolingGeometry<J> As() const {
    PoolingGeometry<J> to;
    for (int axis = 0; axis < 3; ++axis) {
      to.in[axis] = static_cast<J>(in[axis]);
      to.out[axis] = static_cast<J>(out[axis]);
      to.kernel[axis] = static_cast<J>(kernel[axis]);
      to.stride[axis] = static_cast<J>(stride[axis]);
      to.pad[axis] = static_cast<J>(pad[axis]);
    }
    to.channels = static_cast<J>(channels);
    to.channels_last = channels_last;
    to.count_pad = count_pad;
    to.v1 = v1;
    to.type = type;
    to.p = p;
    return to;
  }
};

// Calls fn(PoolingGeometry), which returns a status, with 32-bit numbers if they hold the indices
// of arrays of `count` elements and of their windows, else with 64-bit numbers. `fn` is compiled
// for both types.
//
// Errors: those of fn.
template <typename Fn>
absl::Status DispatchPooling(const PoolingGeometry<int64_t>& g, int64_t count, Fn&& fn) {
  constexpr int64_t kMost = INT32_MAX / 4;
  bool is_small = count <= INT32_MAX;
  for (int axis = 0; axis < 3; ++axis) {
    is_small = is_small && g.in[axis] < kMost && g.kernel[axis] < kMost && g.pad[axis] < kMost &&
               g.stride[axis] < kMost;
  }
  // With padding a window may have more elements than its image.
  int64_t window = 1;
  for (int axis = 0; axis < 3 && is_small; ++axis) {
    is_small = window * g.kernel[axis] <= INT32_MAX;
    window *= g.kernel[axis];
  }
  if (is_small) return fn(g.As<int32_t>());
  return fn(g);
}

// Returns the geometry of Pooling or Pooling_v1 for these shapes of data and output. Param is
// PoolingParam or PoolingV1Param. Global pooling has the whole image as its kernel, stride 1 and no
// padding.
template <typename Param>
PoolingGeometry<int64_t> PoolingGeometryOf(const Param& param, const Shape& data,
                                           const Shape& output) {
  PoolingGeometry<int64_t> g{.in = {1, 1, 1},
                             .out = {1, 1, 1},
                             .kernel = {1, 1, 1},
                             .stride = {1, 1, 1},
                             .pad = {0, 0, 0}};
  g.channels_last = ChannelsLast(param.layout);
  g.count_pad = param.count_include_pad.value_or(true);
  g.v1 = std::is_same_v<Param, PoolingV1Param>;
  g.type = param.pool_type;
  g.p = static_cast<int>(param.p_value.value_or(1));
  const int spatial = data.rank() - 2;
  const int first = g.channels_last ? 1 : 2;
  g.channels = data[g.channels_last ? spatial + 1 : 1];
  for (int i = 0; i < spatial; ++i) {
    const int at = 3 - spatial + i;
    g.in[at] = data[first + i];
    g.out[at] = output[first + i];
    g.kernel[at] = param.global_pool ? g.in[at] : param.kernel[i];
    if (param.global_pool) continue;
    g.stride[at] = WindowValue(param.stride, i, 1);
    g.pad[at] = WindowValue(param.pad, i, 0);
  }
  return g;
}

// The coordinates of element i of an array whose planes have these extents. `extents` are in[] or
// out[] of the geometry, according to the array.
template <typename I>
struct PoolingPlace {
  // Image, channel, and the position on the three axes.
  I n, channel, at[3];

  // Costs a division for each axis whose extent is not 1, and one or two for batch and channel.
  __device__ PoolingPlace(const PoolingGeometry<I>& g, const I (&extents)[3], I i) {
    if (g.channels_last) {
      channel = i % g.channels;
      i /= g.channels;
    }
    for (int axis = 2; axis >= 0; --axis) {
      at[axis] = 0;
      if (extents[axis] == 1) continue;  // missing axes too: a branch costs less than a division
      at[axis] = i % extents[axis];
      i /= extents[axis];
    }
    if (!g.channels_last) {
      channel = i % g.channels;
      i /= g.channels;
    }
    n = i;
  }
};

// The span of a window on each of the three axes. It is the counterpart of PoolingWindow on the CPU
// (pooling_window.h).
template <typename I>
struct PoolingSpans {
  PoolingAxisSpan<I> d, h, w;

  // Takes the spans, or computes those of the window at position `at` of the output.
  __device__ PoolingSpans(const PoolingAxisSpan<I>& d, const PoolingAxisSpan<I>& h,
                          const PoolingAxisSpan<I>& w)
      : d(d), h(h), w(w) {}
  __device__ PoolingSpans(const PoolingGeometry<I>& g, const I (&at)[3])
      : d(g.SpanAt(0, at[0])), h(g.SpanAt(1, at[1])), w(g.SpanAt(2, at[2])) {}

  // Returns whether the window covers padding.
  __device__ bool padded() const { return d.padded || h.padded || w.padded; }
  // Returns the divisor of the window's mean: the kernel size for Pooling_v1, the elements with
  // padding if count_pad is set, else those inside the image; at least 1.
  __device__ I Divisor(const PoolingGeometry<I>& g) const {
    const I inside = (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
    const I elements = g.v1          ? g.kernel[0] * g.kernel[1] * g.kernel[2]
                       : g.count_pad ? d.with_pad * h.with_pad * w.with_pad
                                     : inside;
    return elements > 1 ? elements : 1;
  }
  // Calls fn(index in the plane) for each element, in order. The index contains step(), so it is an
  // offset from the plane's first element.
  template <typename Fn>
  __device__ void ForEach(const PoolingGeometry<I>& g, Fn&& fn) const {
    for (I z = d.begin; z < d.end; ++z) {
      for (I y = h.begin; y < h.end; ++y) {
        const I row = (z * g.in[1] + y) * g.in[2];
        for (I x = w.begin; x < w.end; ++x) fn((row + x) * g.step());
      }
    }
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOWS_H_
