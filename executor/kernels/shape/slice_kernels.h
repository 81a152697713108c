#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_SLICE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_SLICE_KERNELS_H_

// Kernels that read a slice of an array, write one into zeros, or assign to one. Device copies
// elements: CpuMover (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// The parameter structs say which elements a slice has (RangeAlong); this file turns that into a
// strided loop (executor/kernels/loops/strided_loop.h). The gradient of reading is writing into
// zeros.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/slice_param.h"

namespace cooper {

// The offset of a slice in the whole array, and the loop over both. The whole array is the source.
// Strides and offsets are in elements; steps may be negative.
struct SliceLoop {
  // The source strides are those of the whole array, the destination strides those of the slice.
  StridedLoop loop;
  // The offset of the slice's first element in the whole array, in elements.
  int64_t begin = 0;

  // Adds an axis, along which element j of `part` is element first + j * step of `whole`.
  void Add(const Shape& whole, const Shape& part, int axis, int64_t first, int64_t step) {
    const int64_t stride = StrideOf(whole, axis);
    begin += first * stride;
    loop.Add(part[axis], step * stride, StrideOf(part, axis));
  }

  // Returns the loop from the slice to the whole array.
  StridedLoop Reversed() const {
    StridedLoop reversed;
    for (int i = 0; i < loop.rank(); ++i) {
      reversed.Add(loop[i].extent, loop[i].dst_stride, loop[i].src_stride);
    }
    return reversed;
  }
};

// Returns the loop for the slice that `param` selects. Param is a parameter struct that RangeAlong
// accepts: slice, slice_axis, Crop or the leading part.
template <typename Param>
SliceLoop LoopOf(const Param& param, const Shape& whole, const Shape& part) {
  SliceLoop result;
  for (int i = 0; i < whole.rank(); ++i) {
    const SliceRange range = RangeAlong(i, param, whole, part);
    result.Add(whole, part, i, range.begin, range.step);
  }
  return result;
}

// Copies a slice of input 0 to output 0. Does nothing with kNull. Errors: those of Device::Copy.
template <typename Device, typename Param>
absl::Status ReadSlice(const KernelContext& c, const Param& param) {
  const ArrayView& whole = c.inputs[0];
  const ArrayView& part = c.outputs[0];
  if (part.size() == 0 || c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const SliceLoop slice_loop = LoopOf(param, whole.shape, part.shape);
  return Device::Copy(c, slice_loop.loop, part.dtype, c.reqs[0], ElementAt(whole, slice_loop.begin),
                      part.data);
}

// Copies `part` to its slice of `whole`. The other elements of `whole` are unchanged. The shapes
// are those from which the loop was made.
template <typename Device>
absl::Status WriteSlice(const KernelContext& c, const SliceLoop& slice_loop, const ArrayView& part,
                        WriteReq req, const ArrayView& whole) {
  if (part.size() == 0) return absl::OkStatus();
  return Device::Copy(c, slice_loop.Reversed(), whole.dtype, req, part.data,
                      ElementAt(whole, slice_loop.begin));
}

// Writes input 0 to its slice of output 0, and zeros elsewhere. With kAdd the other elements are
// unchanged.
template <typename Device, typename Param>
absl::Status WriteSliceIntoZeros(const KernelContext& c, const Param& param) {
  const ArrayView& part = c.inputs[0];
  const ArrayView& whole = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (part.size() != whole.size()) COOPER_RETURN_IF_ERROR(Device::Zero(c, c.reqs[0], whole));
  return WriteSlice<Device>(c, LoopOf(param, whole.shape, part.shape), part, c.reqs[0], whole);
}

// Runs an operator that reads the slice of Param: slice, slice_axis or Crop. A Kernel::RunFn.
template <typename Device, typename Param>
absl::Status PartKernel(const KernelContext& c) {
  return ReadSlice<Device>(c, c.param<Param>());
}
// Computes the gradient of PartKernel: the slice of ograd within zeros. A Kernel::RunFn.
template <typename Device, typename Param>
absl::Status PartBackwardKernel(const KernelContext& c) {
  return WriteSliceIntoZeros<Device>(c, c.param<Param>());
}

// Runs slice_like: reads the leading part of input 0 that has the output's shape. A Kernel::RunFn.
template <typename Device>
absl::Status SliceLikeKernel(const KernelContext& c) {
  return ReadSlice<Device>(c, LeadingPart());
}

// Computes the gradient of slice_like: ograd within zeros. A Kernel::RunFn.
template <typename Device>
absl::Status SliceLikeBackwardKernel(const KernelContext& c) {
  return WriteSliceIntoZeros<Device>(c, LeadingPart());
}

// Prepares the two kernels of assignment. With kAdd they compute the result in the workspace and
// then add it, so the workspace has the size of the output.
inline absl::StatusOr<Prepared> PrepareAssign(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

// Copies input 0 to a target, calls assign(target), and adds the target to the output for kAdd.
// `assign` returns a status and may change the target in place. Input 0 may be output 0 with
// kWrite. Costs a copy of input 0, unless output 0 is in its memory.
template <typename Device, typename Assign>
absl::Status Assigned(const KernelContext& c, const Assign& assign) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) target.data = c.workspace;
  COOPER_RETURN_IF_ERROR(Device::CopyAll(c, c.inputs[0], WriteReq::kWrite, target));
  COOPER_RETURN_IF_ERROR(assign(target));
  if (c.reqs[0] == WriteReq::kWrite) return absl::OkStatus();
  return Device::CopyAll(c, target, WriteReq::kAdd, c.outputs[0]);
}

// Runs _slice_assign: writes input 0 with a slice replaced by `rhs`, which MXNet's Python interface
// writes x[begin:end:step] = y. Prepared by PrepareAssign. A Kernel::RunFn.
template <typename Device>
absl::Status SliceAssignKernel(const KernelContext& c) {
  using enum SliceAssignArrays::Input;
  return Assigned<Device>(c, [&](const ArrayView& target) {
    const ArrayView& part = c.inputs[kRhs];
    return WriteSlice<Device>(c, LoopOf(c.param<SliceParam>(), target.shape, part.shape), part,
                              WriteReq::kWrite, target);
  });
}

// Runs _slice_assign_scalar: writes input 0 with a slice filled with a scalar. Prepared by
// PrepareAssign. A Kernel::RunFn.
template <typename Device>
absl::Status SliceAssignScalarKernel(const KernelContext& c) {
  return Assigned<Device>(c, [&](const ArrayView& target) {
    const auto& param = c.param<SliceAssignScalarParam>();
    StridedLoop loop;
    int64_t begin = 0;
    for (int i = 0; i < target.shape.rank(); ++i) {
      const SliceRange range = param.range(i, target.shape[i]);
      const int64_t stride = StrideOf(target.shape, i);
      begin += range.begin * stride;
      loop.Add(range.extent, 0, range.step * stride);
    }
    return Device::Fill(c, loop, param.scalar, target, begin);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_SLICE_KERNELS_H_
