#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINDOWS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINDOWS_H_

// Copies the windows of images into the columns of matrices, and adds such columns to images. For
// .cu files; executor/kernels/convolution/im2col.h is for the CPU. The composed convolutions
// (convolution_product_cuda.h) and the operators im2col and col2im call LaunchIm2Col and
// LaunchCol2Im. T is the element type of both arrays.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/program/kernel.h"

namespace cooper {

// A geometry in integers of type I. 32 bits are used where they suffice because their divisions are
// several times faster. Passed to kernels by value, beside the WindowGeometry. Axes are depth,
// height and width; missing ones have extent 1 and come first.
template <typename I>
struct Windows {
  I in[3], kernel[3], stride[3], dilate[3], pad[3], out[3];

  explicit Windows(const WindowGeometry& g) {
    for (int axis = 0; axis < 3; ++axis) {
      in[axis] = static_cast<I>(g.in[axis]);
      kernel[axis] = static_cast<I>(g.kernel[axis]);
      stride[axis] = static_cast<I>(g.stride[axis]);
      dilate[axis] = static_cast<I>(g.dilate[axis]);
      pad[axis] = static_cast<I>(g.pad[axis]);
      out[axis] = static_cast<I>(g.out[axis]);
    }
  }
};

// Calls fn(Windows<I>) with an I that holds all positions, and returns its status. I is int32_t if
// the extents of one channel allow, otherwise int64_t; offsets of channels are 64 bits in any case.
template <typename Fn>
absl::Status DispatchWindows(const WindowGeometry& g, Fn&& fn) {
  constexpr int64_t kMax = INT32_MAX / 4;
  bool is_small = g.columns() <= kMax && g.image_size() <= kMax && g.kernel_size() <= kMax;
  for (int axis = 0; axis < 3; ++axis) {
    // These bounds keep every coordinate within 32 bits: out * stride + kernel * dilate is at most
    // 2 * kMax, in + 2 * pad at most 3 * kMax.
    is_small = is_small && g.in[axis] <= kMax && g.pad[axis] <= kMax && g.out[axis] <= kMax &&
               g.kernel[axis] <= kMax / g.dilate[axis] && g.out[axis] <= kMax / g.stride[axis];
  }
  if (is_small) return fn(Windows<int32_t>(g));
  return fn(Windows<int64_t>(g));
}

// The coordinates of element i of a dense array with these extents, outermost first. Costs two
// divisions.
template <typename I>
struct Place {
  I at[3];

  __device__ Place(I i, const I (&extents)[3]) {
    const I rows = i / extents[2];
    at[2] = i - rows * extents[2];
    at[0] = rows / extents[1];
    at[1] = rows - at[0] * extents[1];
  }
};

// Sets, or adds to, columns (images, rows(), columns()) the windows of images (images, channels,
// in...); padding counts as 0. A block handles one row of a matrix at a time. Launched by
// LaunchRows over images * rows() rows.
template <typename T, typename I>
__global__ void Im2Col(WindowGeometry g, Windows<I> w, int64_t images, const T* image, T* columns,
                       bool add) {
  using Offset = std::make_unsigned_t<I>;  // may wrap for elements outside the image
  const int64_t width = g.columns(), size = g.kernel_size();
  for (int64_t row = blockIdx.y; row < images * g.rows(); row += gridDim.y) {
    const T* channel = image + row / size * g.image_size();
    // The row stands for a channel and an element of the kernel, which are the same for all
    // columns.
    const Place<I> k(static_cast<I>(row % size), w.kernel);
    for (int64_t column = FirstElement(); column < width; column += ElementStep()) {
      const Place<I> o(static_cast<I>(column), w.out);
      Offset from = 0;
      bool inside = true;
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        // The coordinate in the image. Negative ones and those beyond the image are padding.
        const I at = o.at[axis] * w.stride[axis] + k.at[axis] * w.dilate[axis] - w.pad[axis];
        inside = inside && at >= 0 && at < w.in[axis];
        from = from * static_cast<Offset>(w.in[axis]) + static_cast<Offset>(at);
      }
      StoreTo(columns + row * width + column, inside ? channel[from] : T{0}, add);
    }
  }
}

// Returns the position, along an axis, of the window whose element `k` is at `at` in the image; a
// negative number if there is none. Costs a division unless the stride is 1.
template <typename I>
__device__ I WindowAt(const Windows<I>& w, int axis, I at, I k) {
  // Where the window begins in the padded image; only a multiple of the stride is a window.
  const I begin = at + w.pad[axis] - k * w.dilate[axis];
  const I o = w.stride[axis] == 1 ? begin : begin / w.stride[axis];
  return o * w.stride[axis] == begin && o < w.out[axis] ? o : -1;
}

// Sets, or adds to, each element of images the sum of its elements of columns, in the order of the
// kernel's elements, so that equal inputs give equal bits. It gathers instead of scattering, so it
// needs no atomic additions. The sum is in T. Launched by LaunchRows over images * channels rows.
template <typename T, typename I>
__global__ void Col2Im(WindowGeometry g, Windows<I> w, int64_t images, const T* columns, T* image,
                       bool add) {
  const int64_t width = g.columns(), size = g.kernel_size(), elements = g.image_size();
  for (int64_t channel = blockIdx.y; channel < images * g.channels; channel += gridDim.y) {
    const T* rows = columns + channel * size * width;
    for (int64_t i = FirstElement(); i < elements; i += ElementStep()) {
      const Place<I> at(static_cast<I>(i), w.in);
      T sum = 0;
      const T* row = rows;  // for the current element of the kernel
      for (I k0 = 0; k0 < w.kernel[0]; ++k0) {
        const I o0 = WindowAt(w, 0, at.at[0], k0);
        for (I k1 = 0; k1 < w.kernel[1]; ++k1) {
          const I o1 = WindowAt(w, 1, at.at[1], k1);
          // The column of the first window of a row of windows; not used if o0 or o1 is negative.
          const I line = (o0 * w.out[1] + o1) * w.out[2];
          for (I k2 = 0; k2 < w.kernel[2]; ++k2, row += width) {
            const I o2 = WindowAt(w, 2, at.at[2], k2);
            if (o0 >= 0 && o1 >= 0 && o2 >= 0) sum += row[line + o2];
          }
        }
      }
      StoreTo(image + channel * elements + i, sum, add);
    }
  }
}

// Queues Im2Col for `images` images, which are adjacent in both arrays. One launch. Errors: those
// of Launch.
template <typename T>
absl::Status LaunchIm2Col(const KernelContext& c, const WindowGeometry& g, int64_t images,
                          const T* image, T* columns, bool add) {
  return DispatchWindows(g, [&]<typename I>(const Windows<I>& w) {
    return LaunchRows(c, images * g.rows(), g.columns(), Im2Col<T, I>, g, w, images, image, columns,
                      add);
  });
}

// Queues Col2Im for `images` images, which are adjacent in both arrays. Without `add` the images
// are overwritten. One launch. Errors: those of Launch.
template <typename T>
absl::Status LaunchCol2Im(const KernelContext& c, const WindowGeometry& g, int64_t images,
                          const T* columns, T* image, bool add) {
  return DispatchWindows(g, [&]<typename I>(const Windows<I>& w) {
    return LaunchRows(c, images * g.channels, g.image_size(), Col2Im<T, I>, g, w, images, columns,
                      image, add);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINDOWS_H_
