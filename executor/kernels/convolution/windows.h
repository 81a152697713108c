#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINDOWS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINDOWS_H_

// Lays the windows of images out as the columns of matrices, and adds such columns back. For .cu
// files; executor/kernels/convolution/im2col.h is the CPU's.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/program/kernel.h"

namespace cooper {

// A geometry in numbers of type I: 32 bits where they suffice, whose divisions are several times
// faster.
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

// Calls fn(Windows), whose status it returns.
template <typename Fn>
absl::Status DispatchWindows(const WindowGeometry& g, Fn&& fn) {
  constexpr int64_t kMost = INT32_MAX / 4;
  bool is_small = g.columns() <= kMost && g.image_size() <= kMost && g.kernel_size() <= kMost;
  for (int axis = 0; axis < 3; ++axis) {
    // What a place in a padded image is made of. A window, and so its last step, is within it.
    is_small = is_small && g.in[axis] <= kMost && g.pad[axis] <= kMost && g.out[axis] <= kMost &&
               g.kernel[axis] <= kMost / g.dilate[axis] && g.out[axis] <= kMost / g.stride[axis];
  }
  if (is_small) return fn(Windows<int32_t>(g));
  return fn(Windows<int64_t>(g));
}

// Element i of a dense array of these extents, as its place along each axis.
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

// columns = or += the windows of images (images, channels, in...). A block has elements of one row
// of a matrix after the other.
template <typename T, typename I>
__global__ void Im2Col(WindowGeometry g, Windows<I> w, int64_t images, const T* image, T* columns,
                       bool add) {
  using Offset = std::make_unsigned_t<I>;  // of what is outside, it may be anything
  const int64_t width = g.columns(), size = g.kernel_size();
  for (int64_t row = blockIdx.y; row < images * g.rows(); row += gridDim.y) {
    const T* channel = image + row / size * g.image_size();
    const Place<I> k(static_cast<I>(row % size), w.kernel);
    for (int64_t column = FirstElement(); column < width; column += ElementStep()) {
      const Place<I> o(static_cast<I>(column), w.out);
      Offset from = 0;
      bool inside = true;
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        const I at = o.at[axis] * w.stride[axis] + k.at[axis] * w.dilate[axis] - w.pad[axis];
        inside = inside && at >= 0 && at < w.in[axis];
        from = from * static_cast<Offset>(w.in[axis]) + static_cast<Offset>(at);
      }
      StoreTo(columns + row * width + column, inside ? channel[from] : T{0}, add);
    }
  }
}

// The window, along an axis, whose element `k` is at `at` of the image; below 0 where there is
// none.
template <typename I>
__device__ I WindowAt(const Windows<I>& w, int axis, I at, I k) {
  const I begin = at + w.pad[axis] - k * w.dilate[axis];
  const I o = w.stride[axis] == 1 ? begin : begin / w.stride[axis];
  return o * w.stride[axis] == begin && o < w.out[axis] ? o : -1;
}

// images = or += for each of their elements the sum of the columns that it is in, in the order of
// the kernel's elements: equal input gives equal bits.
template <typename T, typename I>
__global__ void Col2Im(WindowGeometry g, Windows<I> w, int64_t images, const T* columns, T* image,
                       bool add) {
  const int64_t width = g.columns(), size = g.kernel_size(), elements = g.image_size();
  for (int64_t channel = blockIdx.y; channel < images * g.channels; channel += gridDim.y) {
    const T* rows = columns + channel * size * width;
    for (int64_t i = FirstElement(); i < elements; i += ElementStep()) {
      const Place<I> at(static_cast<I>(i), w.in);
      T sum = 0;
      const T* row = rows;  // of a kernel's element
      for (I k0 = 0; k0 < w.kernel[0]; ++k0) {
        const I o0 = WindowAt(w, 0, at.at[0], k0);
        for (I k1 = 0; k1 < w.kernel[1]; ++k1) {
          const I o1 = WindowAt(w, 1, at.at[1], k1);
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

template <typename T>
absl::Status LaunchIm2Col(const KernelContext& c, const WindowGeometry& g, int64_t images,
                          const T* image, T* columns, bool add) {
  return DispatchWindows(g, [&]<typename I>(const Windows<I>& w) {
    return LaunchRows(c, images * g.rows(), g.columns(), Im2Col<T, I>, g, w, images, image, columns,
                      add);
  });
}

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
