#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_DEPTH_TO_SPACE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_DEPTH_TO_SPACE_KERNELS_H_

// Kernels of depth_to_space and space_to_depth. Device copies elements: CpuMover
// (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// Both are one strided loop of six axes: they compute nothing, so results are exact for all dtypes.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/depth_to_space_param.h"

namespace cooper {

// Calls add(extent, stride in deep, stride in wide) for the loops over n, c, y, i, x, j, outermost
// first, where
//
//   wide[n][c][y * b + i][x * b + j] = deep[n][(i * b + j) * channels + c][y][x]
//
// `b` is the block size, and `wide` the shape of the array with larger images, (batch, channels,
// height, width). This is MXNet's order, the DCR mode of ONNX.
template <typename Add>
void BlockLoop(int64_t b, const Shape& wide, const Add& add) {
  const int64_t channels = wide[1], rows = wide[2] / b, columns = wide[3] / b;
  const int64_t plane = rows * columns;
  add(wide[0], b * b * channels * plane, channels * wide[2] * wide[3]);
  add(channels, plane, wide[2] * wide[3]);
  add(rows, columns, b * wide[3]);
  add(b, b * channels * plane, wide[3]);
  add(columns, 1, b);
  add(b, channels * plane, 1);
}

// Kernel of depth_to_space: (n, b * b * c, h, w) gives (n, c, b * h, b * w). Errors: those of
// Device::Copy.
template <typename Device>
absl::Status DepthToSpaceKernel(const KernelContext& c) {
  StridedLoop loop;
  BlockLoop(c.param<DepthToSpaceParam>().block_size, c.outputs[0].shape,
            [&](int64_t extent, int64_t deep, int64_t wide) { loop.Add(extent, deep, wide); });
  return Device::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data, c.outputs[0].data);
}

// Runs space_to_depth, the inverse of depth_to_space. Each is the gradient of the other. A
// Kernel::RunFn.
template <typename Device>
absl::Status SpaceToDepthKernel(const KernelContext& c) {
  StridedLoop loop;
  BlockLoop(c.param<DepthToSpaceParam>().block_size, c.inputs[0].shape,
            [&](int64_t extent, int64_t deep, int64_t wide) { loop.Add(extent, wide, deep); });
  return Device::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data, c.outputs[0].data);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_DEPTH_TO_SPACE_KERNELS_H_
