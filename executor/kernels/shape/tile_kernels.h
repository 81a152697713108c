#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_TILE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_TILE_KERNELS_H_

// Kernels of tile, repeat and reverse, and the sums that are the gradients of tile and repeat.
// Device copies elements: CpuMover (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// Each is one strided loop; repeated elements have stride 0. tile.cc and movement.cu register the
// kernels of the CPU and the GPU; tile_gradient.cu has the GPU's gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/tile_param.h"

namespace cooper {

// Calls add(extent, stride in data, stride in tiled) for the loops over the output of tile, in
// memory order. For each axis of the output there is a loop over the repetitions (stride 0 in data)
// and one over the extent. `reps` and the axes of data are aligned at their last elements.
template <typename Add>  // add(extent, stride in data, stride in tiled)
void TileLoop(const TileParam& param, const Shape& data, const Shape& tiled, const Add& add) {
  const int reps_rank = static_cast<int>(param.reps.size());
  for (int i = 0; i < tiled.rank(); ++i) {
    const int data_axis = i - (tiled.rank() - data.rank());
    const int rep = i - (tiled.rank() - reps_rank);
    const int64_t stride = StrideOf(tiled, i);
    const int64_t extent = data_axis < 0 ? 1 : data[data_axis];
    add(rep < 0 ? 1 : param.reps[rep], 0, extent * stride);
    add(extent, data_axis < 0 ? 0 : StrideOf(data, data_axis), stride);
  }
}

// Calls add for the loops over the output of repeat: each element along the axis, or of the
// flattened array, occurs `repeats` times in a row.
template <typename Add>
void TileLoop(const RepeatParam& param, const Shape& data, const Shape&, const Add& add) {
  int64_t outer = 1, extent = data.num_elements(), inner = 1;
  if (param.axis.has_value()) {
    const int axis = *param.axis < 0 ? *param.axis + data.rank() : *param.axis;
    outer = data.Product(0, axis);
    extent = data[axis];
    inner = StrideOf(data, axis);
  }
  add(outer, extent * inner, extent * param.repeats * inner);
  add(extent, inner, param.repeats * inner);
  add(param.repeats, 0, inner);
  add(inner, 1, 1);
}

// Runs tile or repeat, as Param says. A Kernel::RunFn. Errors: kUnimplemented if the loop is too
// deep; those of Device::Copy.
template <typename Device, typename Param>
absl::Status TileKernel(const KernelContext& c) {
  // The product of the extents of an empty array may overflow.
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  StridedLoop loop;
  TileLoop(c.param<Param>(), c.inputs[0].shape, c.outputs[0].shape,
           [&](int64_t extent, int64_t data, int64_t tiled) { loop.Add(extent, data, tiled); });
  return Device::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data, c.outputs[0].data);
}

// Computes the gradient of tile or repeat: Device::Sum adds the repeated elements of ograd. An
// empty ograd gives zeros.
//
// Errors: those of Device::Sum.
template <typename Device, typename Param>
absl::Status TileBackwardKernel(const KernelContext& c) {
  StridedLoop loop;
  if (c.inputs[0].size() == 0) {
    loop.Add(0, 0, 0);
  } else {
    TileLoop(c.param<Param>(), c.outputs[0].shape, c.inputs[0].shape,
             [&](int64_t extent, int64_t data, int64_t tiled) { loop.Add(extent, tiled, data); });
  }
  return Device::Sum(c, loop, c.reqs[0], c.inputs[0].data, c.outputs[0]);
}

// Runs reverse. The loop reads reversed axes with negative strides, from their last elements on. A
// Kernel::RunFn. Reversing is its own gradient.
template <typename Device>
absl::Status ReverseKernel(const KernelContext& c) {
  const auto& param = c.param<ReverseParam>();
  const Shape& shape = c.inputs[0].shape;
  if (shape.num_elements() == 0) return absl::OkStatus();
  StridedLoop loop;
  int64_t begin = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t stride = StrideOf(shape, i);
    const bool reversed = param.reverses(i, shape.rank());
    if (reversed) begin += (shape[i] - 1) * stride;
    loop.Add(shape[i], reversed ? -stride : stride, stride);
  }
  return Device::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], ElementAt(c.inputs[0], begin),
                      c.outputs[0].data);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_TILE_KERNELS_H_
