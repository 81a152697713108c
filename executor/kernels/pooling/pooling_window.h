#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOW_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOW_H_

// Computes the positions of Pooling's windows, for the CPU kernels.
//
// pooling_rows.h and pooling_lanes.h compute the reductions over these windows, and
// pooling_windows.h is the counterpart for GPUs.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "executor/kernels/pooling/pooling_span.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {

// The elements [begin, end) of a window inside the image, and the divisor of its mean. Axes are
// depth, height and width.
struct PoolingWindow {
  int64_t begin[3], end[3];
  int64_t divisor = 1;
  bool padded = false;  // whether it covers padding too
};

// The planes of an array: a plane is one channel of one image. It has three spatial axes; missing
// ones have extent 1 and come first. If channels are last, the elements of a plane are `channels`
// apart. Immutable after construction, so thread-safe. The constructor computes the spans of all
// positions of each axis once, so WindowAt only combines three of them.
class PoolingPlanes {
 public:
  // `v1` selects Pooling_v1, which divides by the kernel size even if pooling_convention "full"
  // lets a window extend beyond the padding.
  // `data` and `output` are the shapes of Pooling's input and output, of rank 3 to 5.
  PoolingPlanes(const PoolingParam& param, const Shape& data, const Shape& output, bool v1)
      : v1_(v1) {
    channels_last = ChannelsLast(param.layout);
    count_pad_ = param.count_include_pad.value_or(true);
    const int spatial = data.rank() - 2;
    batch = data[0];
    channels = data[channels_last ? spatial + 1 : 1];
    for (int i = 0; i < spatial; ++i) {
      const int at = 3 - spatial + i;
      in[at] = data[i + (channels_last ? 1 : 2)];
      out[at] = output[i + (channels_last ? 1 : 2)];
      kernel[at] = param.global_pool ? in[at] : param.kernel[i];
      if (param.global_pool) continue;
      stride[at] = WindowValue(param.stride, i, 1);
      pad[at] = WindowValue(param.pad, i, 0);
    }
    for (int i = 0; i < 3; ++i) {
      for (int64_t position = 0; position < out[i]; ++position) {
        spans_[i].push_back(PoolingSpanAt(position, stride[i], pad[i], kernel[i], in[i]));
      }
    }
    for (const PoolingSpan& x : spans_[2]) {
      column_elements_.push_back(static_cast<float>(count_pad_ ? x.with_pad : x.end - x.begin));
    }
  }

  // Returns the number of elements of a plane of the input.
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  // Returns the number of elements of a plane of the output: its windows.
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  // Returns the number of elements of a window, padding included.
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Returns the distance between neighbouring elements of a plane. It is 1 if channels are not
  // last.
  int64_t step() const { return channels_last ? channels : 1; }
  // Returns the offset of a plane's first element in image `n`, in an array whose planes have
  // `size` elements. `size` is in_size() or out_size().
  int64_t Begin(int64_t n, int64_t channel, int64_t size) const {
    return n * channels * size + channel * (channels_last ? 1 : size);
  }

  // Returns the window at output position (d, h, w). The position is that of the output. The
  // divisor is at least 1.
  PoolingWindow WindowAt(int64_t d, int64_t h, int64_t w) const {
    const PoolingSpan& z = spans_[0][d];
    const PoolingSpan& y = spans_[1][h];
    const PoolingSpan& x = spans_[2][w];
    PoolingWindow window{.begin = {z.begin, y.begin, x.begin},
                         .end = {z.end, y.end, x.end},
                         .padded = z.padded || y.padded || x.padded};
    const int64_t inside = (z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin);
    const int64_t with_pad = z.with_pad * y.with_pad * x.with_pad;
    window.divisor = std::max<int64_t>(v1_ ? kernel_size() : count_pad_ ? with_pad : inside, 1);
    return window;
  }

  // Return the two factors of the divisor of the window at (d, h, w): it is RowElements(d, h) times
  // column_elements()[w], but at least 1. This does not hold for Pooling_v1.
  int64_t RowElements(int64_t d, int64_t h) const {
    const PoolingSpan& z = spans_[0][d];
    const PoolingSpan& y = spans_[1][h];
    return count_pad_ ? z.with_pad * y.with_pad : (z.end - z.begin) * (y.end - y.begin);
  }
  // Returns out[2] numbers, which are exact in float below 2^24.
  const float* column_elements() const { return column_elements_.data(); }

  // Calls fn(position, window) for each window of a plane, in order. `position` is the index within
  // the output's plane; multiply it by step() for the offset in memory.
  template <typename Fn>
  void ForEachWindow(Fn&& fn) const {
    int64_t position = 0;
    for (int64_t d = 0; d < out[0]; ++d) {
      for (int64_t h = 0; h < out[1]; ++h) {
        for (int64_t w = 0; w < out[2]; ++w) fn(position++, WindowAt(d, h, w));
      }
    }
  }

  // Calls fn(index within a plane) for each element of a window, in order. The index does not
  // contain step(). Elements are visited row by row.
  template <typename Fn>
  void ForEachElement(const PoolingWindow& window, Fn&& fn) const {
    for (int64_t d = window.begin[0]; d < window.end[0]; ++d) {
      for (int64_t h = window.begin[1]; h < window.end[1]; ++h) {
        const int64_t row = (d * in[1] + h) * in[2];
        for (int64_t w = window.begin[2]; w < window.end[2]; ++w) fn(row + w);
      }
    }
  }

  // Whether the layout ends with C, as NHWC does.
  bool channels_last;
  int64_t batch, channels;
  // Extents, kernel, stride and padding by axis: depth, height, width.
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};

 private:
  // Whether the operator is Pooling_v1.
  bool v1_;
  // Whether the mean counts padding (count_include_pad).
  bool count_pad_;
  std::vector<PoolingSpan> spans_[3];  // by position on each axis
  // The elements of each window along the last axis, by position.
  std::vector<float> column_elements_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_WINDOW_H_
