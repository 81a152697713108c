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
#include "executor/kernels/loops/elemwise_loop.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// The pixels of one axis of an image under one element of the kernel: that of window o is o *
// stride + shift, inside the image for o in [first, last).
struct WindowRange {
  int64_t shift, first, last;

  WindowRange(const WindowGeometry& g, int axis, int64_t k)
      : shift(k * g.dilate[axis] - g.pad[axis]),
        first(std::clamp<int64_t>(FirstFrom(g, axis, -shift), 0, g.out[axis])),
        last(std::clamp<int64_t>(
            g.in[axis] - shift <= 0 ? 0 : FirstFrom(g, axis, g.in[axis] - shift), first,
            g.out[axis])) {}

 private:
  static int64_t FirstFrom(const WindowGeometry& g, int axis, int64_t at) {
    return (at + g.stride[axis] - 1) / g.stride[axis];
  }
};

// An element of the kernel, which is a row of the columns. The range is that of the last axis.
struct WindowElement : WindowRange {
  int64_t channel, k[3];

  WindowElement(const WindowGeometry& g, int64_t row)
      : WindowRange(g, 2, row % g.kernel[2]),
        channel(row / g.kernel_size()),
        k{row % g.kernel_size() / (g.kernel[1] * g.kernel[2]), row / g.kernel[2] % g.kernel[1],
          row % g.kernel[2]} {}
};

// Calls fn(column, at) for each line of windows along the last axis: its first column, and the
// first pixel of the line of the image under `element`, or -1 if that is in the padding.
template <typename Fn>
void ForEachWindowLine(const WindowGeometry& g, const WindowElement& element, Fn&& fn) {
  int64_t column = 0;
  for (int64_t d = 0; d < g.out[0]; ++d) {
    const int64_t z = d * g.stride[0] + element.k[0] * g.dilate[0] - g.pad[0];
    for (int64_t h = 0; h < g.out[1]; ++h, column += g.out[2]) {
      const int64_t y = h * g.stride[1] + element.k[1] * g.dilate[1] - g.pad[1];
      const bool inside = z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1];
      fn(column, inside ? ((element.channel * g.in[0] + z) * g.in[1] + y) * g.in[2] : -1);
    }
  }
}

// Returns the grain of ParallelFor over channels: the elements of a channel's columns are its cost.
inline int64_t ChannelGrain(const WindowGeometry& g) {
  return RowGrain(g.kernel_size() * g.columns());
}

// Returns whether the lines of a plane of windows are the image's lines, one after the other, but
// for a shift.
inline bool KeepsLines(const WindowGeometry& g) {
  return g.stride[1] == 1 && g.stride[2] == 1 && g.out[2] == g.in[2];
}

// Copies the pixels under `element` to a row of the columns where KeepsLines: all lines of a plane
// at a time, and then the padding at their ends.
template <typename T>
void CopyPlanes(const WindowGeometry& g, const WindowElement& element, const T* image, T padding,
                T* to) {
  const int64_t width = g.out[2], n = element.last - element.first;
  const WindowRange planes(g, 0, element.k[0]), lines(g, 1, element.k[1]);
  for (int64_t d = 0; d < g.out[0]; ++d, to += g.out[1] * width) {
    if (d < planes.first || d >= planes.last || lines.first == lines.last || n == 0) {
      std::fill_n(to, g.out[1] * width, padding);
      continue;
    }
    const int64_t z = d * g.stride[0] + planes.shift, y = lines.first + lines.shift;
    const int64_t from = ((element.channel * g.in[0] + z) * g.in[1] + y) * width;
    std::fill_n(to, lines.first * width, padding);
    std::fill_n(to + lines.last * width, (g.out[1] - lines.last) * width, padding);
    std::copy_n(image + from + element.first + element.shift,
                (lines.last - lines.first - 1) * width + n,
                to + lines.first * width + element.first);
    for (int64_t h = lines.first; h < lines.last; ++h) {
      for (int64_t i = 0; i < element.first; ++i) to[h * width + i] = padding;
      for (int64_t i = element.last; i < width; ++i) to[h * width + i] = padding;
    }
  }
}

// Copies image (channels, in...) to columns (rows(), columns()). Padding becomes `padding`. Uses
// several threads. `image` and `columns` do not overlap. Rows with a stride of 1 are copied as
// memory.
template <typename T>
void Im2Col(const WindowGeometry& g, const T* image, T* columns, T padding = {}) {
  const int64_t stride = g.stride[2];
  ParallelFor(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * g.kernel_size(); row < end * g.kernel_size(); ++row) {
      const WindowElement element(g, row);
      if (KeepsLines(g)) {
        CopyPlanes(g, element, image, padding, columns + row * g.columns());
        continue;
      }
      const int64_t n = element.last - element.first;
      ForEachWindowLine(g, element, [&](int64_t column, int64_t at) {
        T* const to = columns + row * g.columns() + column;
        if (at < 0) {
          std::fill_n(to, g.out[2], padding);
          return;
        }
        std::fill_n(to, element.first, padding);
        std::fill_n(to + element.last, g.out[2] - element.last, padding);
        T* const inner = to + element.first;
        const T* const from = image + at + element.first * stride + element.shift;
        if (stride == 1) {
          std::copy_n(from, n, inner);
        } else if (stride == 2) {  // compilers vectorise a constant stride
          for (int64_t i = 0; i < n; ++i) inner[i] = from[i * 2];
        } else {
          for (int64_t i = 0; i < n; ++i) inner[i] = from[i * stride];
        }
      });
    }
  });
}

// Adds two rows of columns, of adjacent elements of the kernel, to an image with a stride of 2: the
// rows alternate in each line of the image, so that compilers vectorise the loop.
template <typename T>
void Col2ImAddPair(const WindowGeometry& g, int64_t row, const T* columns, T* image) {
  const WindowElement even(g, row), odd(g, row + 1);
  // The pixel under `odd` is one further than that under `even`, so it enters the image earlier,
  // and leaves it earlier.
  const int64_t first = std::min(even.first, odd.last), last = std::max(even.first, odd.last);
  ForEachWindowLine(g, even, [&](int64_t column, int64_t at) {
    if (at < 0) return;
    const T* const a = columns + row * g.columns() + column;
    const T* const b = a + g.columns();
    T* const line = image + at + even.shift;
    for (int64_t i = odd.first; i < first; ++i) line[i * 2 + 1] += b[i];
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = even.first; i < odd.last; ++i) {
      line[i * 2] += a[i];
      line[i * 2 + 1] += b[i];
    }
    for (int64_t i = last; i < even.last; ++i) line[i * 2] += a[i];
  });
}

// Adds each element of columns to the image element that it stands for, or with `add` false to
// zeros; elements under padding are dropped. Channels share no elements, so threads can share the
// channels. An image element is summed in the order of the kernel's elements, so results do not
// depend on the number of threads.
template <typename T>
void Col2Im(const WindowGeometry& g, const T* columns, T* image, bool add) {
  const int64_t stride = g.stride[2];
  ParallelFor(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    if (!add) std::fill(image + begin * g.image_size(), image + end * g.image_size(), T{});
    for (int64_t row = begin * g.kernel_size(); row < end * g.kernel_size(); ++row) {
      if (stride == 2 && g.dilate[2] == 1 && row % g.kernel[2] + 1 < g.kernel[2]) {
        Col2ImAddPair(g, row++, columns, image);
        continue;
      }
      const WindowElement element(g, row);
      const int64_t n = element.last - element.first;
      ForEachWindowLine(g, element, [&](int64_t column, int64_t at) {
        if (at < 0) return;
        const T* const from = columns + row * g.columns() + column + element.first;
        T* const to = image + at + element.first * stride + element.shift;
        for (int64_t i = 0; i < n; ++i) to[i * stride] += from[i];
      });
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_IM2COL_H_
