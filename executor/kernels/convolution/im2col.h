#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_IM2COL_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_IM2COL_H_

// Copies the windows of a convolution into the columns of a matrix, which turns it into a product,
// and adds such columns to an image, on the CPU. windows.h is for the GPU. The products of
// convolution_product.h and the operators im2col and col2im use it. The columns take kernel_size()
// times the memory of the map's positions for each channel.
//
// For an image (1, 3, 3) with a kernel of 2 x 2 the columns are (4, 4): row 0 holds the upper left
// element of each of the four windows, row 3 the lower right one.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/row_grain.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Calls fn(row, column, at, count) for runs along the last spatial axis, in the rows of channels
// [begin, end): elements [column, column + count) of `row` of the matrix are the image elements at,
// at + stride[2], ...; an `at` of -1 stands for padding. The runs cover each row once, in order.
// The bounds of a run are computed once per row, so no element needs a test. A run never crosses a
// line of the image; there are up to three for each line of windows.
template <typename Fn>
void ForEachWindowRun(const WindowGeometry& g, int64_t begin, int64_t end, Fn&& fn) {
  const int64_t size = g.kernel_size();
  for (int64_t row = begin * size; row < end * size; ++row) {
    const int64_t channel = row / size;
    // The coordinates of the kernel's element for this row.
    const int64_t k[3] = {row % size / (g.kernel[1] * g.kernel[2]), row / g.kernel[2] % g.kernel[1],
                          row % g.kernel[2]};
    int64_t column = 0;
    // Positions [first, last) along the last axis have the window's element inside the image.
    const int64_t shift = k[2] * g.dilate[2] - g.pad[2];
    const int64_t first =
        std::clamp<int64_t>((-shift + g.stride[2] - 1) / g.stride[2], 0, g.out[2]);
    const int64_t last = std::clamp<int64_t>(
        g.in[2] - shift <= 0 ? 0 : (g.in[2] - shift + g.stride[2] - 1) / g.stride[2], first,
        g.out[2]);
    for (int64_t d = 0; d < g.out[0]; ++d) {
      const int64_t z = d * g.stride[0] + k[0] * g.dilate[0] - g.pad[0];
      for (int64_t h = 0; h < g.out[1]; ++h, column += g.out[2]) {
        const int64_t y = h * g.stride[1] + k[1] * g.dilate[1] - g.pad[1];
        if (z < 0 || z >= g.in[0] || y < 0 || y >= g.in[1]) {
          fn(row, column, int64_t{-1}, g.out[2]);
          continue;
        }
        // The first pixel of the line of the image. Padding at its begin and end is reported apart.
        const int64_t at = ((channel * g.in[0] + z) * g.in[1] + y) * g.in[2];
        if (first > 0) fn(row, column, int64_t{-1}, first);
        if (last > first) {
          fn(row, column + first, at + first * g.stride[2] + shift, last - first);
        }
        if (g.out[2] > last) fn(row, column + last, int64_t{-1}, g.out[2] - last);
      }
    }
  }
}

// Returns the grain of ParallelFor over channels: the elements of a channel's columns are its cost.
inline int64_t ChannelGrain(const WindowGeometry& g) {
  return RowGrain(g.kernel_size() * g.columns());
}

// Copies image (channels, in...) to columns (rows(), columns()). Padding becomes 0. Uses several
// threads. `image` and `columns` do not overlap. Rows with a stride of 1 are copied as memory.
template <typename T>
void Im2Col(const WindowGeometry& g, const T* image, T* columns) {
  const int64_t width = g.columns();
  const int64_t stride = g.stride[2];
  ParallelFor(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    ForEachWindowRun(g, begin, end, [&](int64_t row, int64_t column, int64_t at, int64_t n) {
      T* to = columns + row * width + column;
      if (at < 0) {
        std::fill_n(to, n, T{});
      } else if (stride == 1) {
        std::copy_n(image + at, n, to);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i] = image[at + i * stride];
      }
    });
  });
}

// Adds each element of columns to the image element that it stands for; elements under padding are
// dropped. Channels share no elements, so threads can share the channels. An image element is
// summed in the order of the kernel's elements, so results do not depend on the number of threads.
template <typename T>
void Col2ImAdd(const WindowGeometry& g, const T* columns, T* image) {
  const int64_t width = g.columns();
  const int64_t stride = g.stride[2];
  ParallelFor(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    ForEachWindowRun(g, begin, end, [&](int64_t row, int64_t column, int64_t at, int64_t n) {
      if (at < 0) return;
      const T* from = columns + row * width + column;
      for (int64_t i = 0; i < n; ++i) image[at + i * stride] += from[i];
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_IM2COL_H_
