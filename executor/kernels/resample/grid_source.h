#ifndef COOPER_EXECUTOR_KERNELS_RESAMPLE_GRID_SOURCE_H_
#define COOPER_EXECUTOR_KERNELS_RESAMPLE_GRID_SOURCE_H_

// Computes which elements BilinearSampler and SpatialTransformer interpolate, for both devices.
//
// sampler.cc and sampler.cu interpolate the four neighbours that a GridSource gives, and scatter
// the gradient to them. sampler_grids.h computes the grids on a GPU.

#include <cmath>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns the coordinate of position i of `extent` on the axis from -1 to 1. Position 0 is -1 and
// the last one is 1. An extent of 1 gives NaN, as in MXNet.
template <typename T>
COOPER_HOST_DEVICE T NormalPosition(int64_t i, int64_t extent) {
  return T{-1} + T{2} * static_cast<T>(i) / static_cast<T>(extent - 1);
}

// The extents of the sampled images and of the output. Images are (batch, channels, in_h, in_w),
// outputs (batch, channels, out_h, out_w).
struct SampledImages {
  int64_t batch, channels, in_h, in_w, out_h, out_w;

  // Returns the elements of one channel of an image; out_size those of an output.
  COOPER_HOST_DEVICE int64_t in_size() const { return in_h * in_w; }
  COOPER_HOST_DEVICE int64_t out_size() const { return out_h * out_w; }
};

// The source of position i of a sample's output: corner 0, the element above and left of it, and
// its weights. `grid` is the sample's grid (2, out_h, out_w): channel 0 holds x, channel 1 holds y,
// both in [-1, 1] within the image. In elements of the image the position is
//
//   ((grid x + 1) * (in_w - 1) / 2, (grid y + 1) * (in_h - 1) / 2)
//
// T is float or double. MXNet: bilinear_sampler.cc.
template <typename T>
struct GridSource {
  // The column and row of corner 0; -2 up to the extent + 1 if the position is outside the image.
  int64_t x, y;
  // In [0, 1] for finite positions inside the image.
  T wx, wy;  // weights of column x and row y; 1 - w for x + 1 and y + 1

  COOPER_HOST_DEVICE GridSource(const SampledImages& m, const T* grid, int64_t i) {
    const T at_x = (grid[i] + T{1}) * static_cast<T>(m.in_w - 1) / T{2};
    const T at_y = (grid[i + m.out_size()] + T{1}) * static_cast<T>(m.in_h - 1) / T{2};
    const T floor_x = Floor(at_x, m.in_w);
    const T floor_y = Floor(at_y, m.in_h);
    x = static_cast<int64_t>(floor_x);
    y = static_cast<int64_t>(floor_y);
    wx = T{1} - (at_x - floor_x);
    wy = T{1} - (at_y - floor_y);
  }

  // Calls fn(corner, offset in the image, weight) for the corners inside the image. Corners 0 and 1
  // are in row y, 2 and 3 in row y + 1. Corners outside the image count as 0. The four weights sum
  // to 1.
  template <typename Fn>
  COOPER_HOST_DEVICE void ForEachCorner(const SampledImages& m, Fn&& fn) const {
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t u = x + corner % 2, v = y + corner / 2;
      if (u < 0 || u >= m.in_w || v < 0 || v >= m.in_h) continue;
      fn(corner, v * m.in_w + u,
         (corner % 2 == 0 ? wx : T{1} - wx) * (corner / 2 == 0 ? wy : T{1} - wy));
    }
  }

 private:
  // Clamps positions far outside to just outside, which gives the same result and fits in int64_t.
  // A NaN is outside as well: its weights would be NaN.
  COOPER_HOST_DEVICE static T Floor(T at, int64_t extent) {
    const T most = static_cast<T>(extent + 1);
    return std::floor(!(at >= T{-2}) ? T{-2} : most < at ? most : at);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RESAMPLE_GRID_SOURCE_H_
