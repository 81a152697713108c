#ifndef COOPER_EXECUTOR_KERNELS_RESAMPLE_SAMPLER_GRIDS_H_
#define COOPER_EXECUTOR_KERNELS_RESAMPLE_SAMPLER_GRIDS_H_

// Computes the grids of positions at which images are sampled, and their gradients. For .cu files.
//
// sampler.cu calls the Run functions, for GridGenerator and SpatialTransformer. T is float or
// double. With `add` results are added to the output, else written. sampler.cc has the counterparts
// for the CPU.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/resample/grid_source.h"
#include "executor/program/kernel.h"

namespace cooper {

// Computes the grid (batch, 2, height, width) of an affine transformation, for GridGenerator with
// transform_type "affine" and for SpatialTransformer:
//
//   grid[n][k][y][x] = or += matrix[n][k][0] * X + matrix[n][k][1] * Y + matrix[n][k][2]
//
// X and Y are the positions of x and y on the axis from -1 to 1 (NormalPosition). `count` is the
// number of elements of the grid.
template <typename T>
__global__ void AffineGrid(int64_t count, int64_t height, int64_t width, const T* matrix, T* grid,
                           bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const T* m = matrix + i / width / height * 3;
    const int64_t x = i % width, y = i / width % height;
    StoreTo(grid + i,
            m[0] * NormalPosition<T>(x, width) + m[1] * NormalPosition<T>(y, height) + m[2], add);
  }
}

// Computes the gradient of AffineGrid with respect to the matrices. The sets of `plan` are their
// rows of 3 elements. Each row is the sum over all positions of grid_grad times (X, Y, 1), in an
// order that depends on the shape alone.
template <typename T>
__global__ void AffineGradient(SetPlan plan, int64_t height, int64_t width, const T* grid_grad,
                               T* grad, bool add) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    T sum[3] = {0, 0, 0};
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const T value = grid_grad[i];
      sum[0] += value * NormalPosition<T>(j % width, width);
      sum[1] += value * NormalPosition<T>(j / width, height);
      sum[2] += value;
    });
    for (int k = 0; k < 3; ++k) {
      const T total = thread.Sum(sum[k]);
      if (set >= 0 && thread.IsFirst()) StoreTo(grad + set * 3 + k, total, add);
    }
  });
}

// Computes the grid of a flow (batch, 2, height, width) in pixels, for GridGenerator with
// transform_type "warp", or its gradient:
//
//   grid = or += (position + flow) / half - 1, half = (extent - 1) / 2
//   gradient of flow = or += gradient of grid / half
//
// `in` is the flow, or with `is_gradient` the gradient of the grid.
template <typename T>
__global__ void WarpGrid(int64_t count, int64_t height, int64_t width, bool is_gradient,
                         const T* in, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const bool is_x = i / (height * width) % 2 == 0;
    const int64_t position = is_x ? i % width : i / width % height;
    const T half = static_cast<T>((is_x ? width : height) - 1) / T{2};
    StoreTo(out + i, is_gradient ? in[i] / half : (in[i] + static_cast<T>(position)) / half - T{1},
            add);
  }
}

// Queues AffineGrid. `shape` is (batch, channels, height, width) of the sampled output. `matrix`
// and `grid` are device memory. Does not wait. Errors: those of Launch.
template <typename T>
absl::Status RunAffineGrid(const KernelContext& c, const T* matrix, const Shape& shape, T* grid,
                           bool add) {
  const int64_t count = shape[0] * 2 * shape[2] * shape[3];
  return LaunchElements(c, count, AffineGrid<T>, count, shape[2], shape[3], matrix, grid, add);
}

// Queues AffineGradient for output `grad`. `grid_grad` is (batch, 2, height, width). Does not wait.
// Errors: those of Launch.
template <typename T>
absl::Status RunAffineGradient(const KernelContext& c, const T* grid_grad, const Shape& shape,
                               const ArrayView& grad, WriteReq req) {
  return LaunchSets(c, PlanSets(shape[0] * 2, shape[2] * shape[3], 1), AffineGradient<T>, shape[2],
                    shape[3], grid_grad, grad.as<T>(), req == WriteReq::kAdd);
}

// Queues WarpGrid from input 0 to output 0. With `is_gradient` input 0 is the gradient of the grid.
// Does not wait. Errors: those of Launch.
template <typename T>
absl::Status RunWarp(const KernelContext& c, bool is_gradient) {
  const Shape& shape = c.inputs[0].shape;
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, WarpGrid<T>, count, shape[2], shape[3], is_gradient,
                        c.inputs[0].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RESAMPLE_SAMPLER_GRIDS_H_
