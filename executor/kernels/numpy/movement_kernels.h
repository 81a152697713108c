#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_MOVEMENT_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_MOVEMENT_KERNELS_H_

// Kernels of _np_moveaxis, _np_roll, _npi_rot90 and of the stacks hstack, vstack, dstack and
// column_stack with their gradients, templates over the mover of a device: CpuMover
// (executor/kernels/loops/strided_copy.h) or CudaMover. A loop over axes has at most
// StridedLoop::kMaxRank levels.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/kernels/shape/transpose_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/movement_param.h"

namespace cooper {

// The kernels of one device. They only move elements, so they take every dtype; inputs and outputs
// have one dtype and must not overlap. Errors besides those named below: kUnimplemented for a loop
// that is too deep, from Mover::Copy.
template <typename Mover>
struct NumpyMovement {
  // Rolled axes beyond this many are refused: each one doubles the number of copies.
  static constexpr size_t kMaxRolled = 8;

  // Copies data to the output with its axes rolled by `shifts`, of which each is in [0, extent].
  // Splits the axis `axis` into the part that stays in front of the shift and the part that enters
  // at the other end, and recurses for each, so that r axes with a shift take up to 2^r copies.
  // `from`, `to` and `loop` are the offsets in elements and the loops of the axes before `axis`.
  static absl::Status RollFrom(const KernelContext& c, absl::Span<const int64_t> extents,
                               absl::Span<const int64_t> shifts, size_t axis, int64_t from,
                               int64_t to, StridedLoop loop) {
    if (axis == extents.size()) {
      return Mover::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], ElementAt(c.inputs[0], from),
                         ElementAt(c.outputs[0], to));
    }
    int64_t stride = 1;
    for (size_t i = axis + 1; i < extents.size(); ++i) stride *= extents[i];
    const int64_t shift = shifts[axis], kept = extents[axis] - shift;
    if (kept > 0) {
      StridedLoop inner = loop;
      inner.Add(kept, stride, stride);
      COOPER_RETURN_IF_ERROR(
          RollFrom(c, extents, shifts, axis + 1, from, to + shift * stride, inner));
    }
    if (shift == 0) return absl::OkStatus();
    loop.Add(shift, stride, stride);
    return RollFrom(c, extents, shifts, axis + 1, from + kept * stride, to, loop);
  }

  // Runs _np_roll. Shifts may be negative or larger than the extent; they count modulo the extent.
  // Without an axis the array is rolled as a vector of all its elements. Fails with kUnimplemented
  // for more than kMaxRolled axes, whose copies would be too many.
  static absl::Status Roll(const KernelContext& c) {
    const ArrayView& data = c.inputs[0];
    if (c.reqs[0] == WriteReq::kNull || data.size() == 0) return absl::OkStatus();
    const auto& param = c.param<RollParam>();
    const Shape shape = param.axis.has_value() ? data.shape : Shape({data.size()});
    std::vector<int64_t> shifts(shape.rank());
    const size_t count = param.axis.has_value() ? param.axis->size() : 1;
    if (count > kMaxRolled) {
      return absl::UnimplementedError(absl::StrCat(count, " rolled axes, at most ", kMaxRolled));
    }
    for (size_t k = 0; k < count; ++k) {
      COOPER_ASSIGN_OR_RETURN(
          const int axis,
          NormalizeAxis(param.axis.has_value() ? (*param.axis)[k] : 0, shape.rank()));
      const int64_t rest = param.shift_of(k) % shape[axis];
      shifts[axis] = rest < 0 ? rest + shape[axis] : rest;
    }
    return RollFrom(c, shape.dims(), shifts, 0, 0, 0, StridedLoop());
  }

  // Runs _npi_rot90 as one copy. An odd number of turns exchanges the axes of the plane; one turn
  // then reverses its first axis, three turns its second one, and two turns reverse both.
  static absl::Status Rot90(const KernelContext& c) {
    const Shape& in = c.inputs[0].shape;
    const Shape& out = c.outputs[0].shape;
    if (c.reqs[0] == WriteReq::kNull || in.num_elements() == 0) return absl::OkStatus();
    const auto& param = c.param<Rot90Param>();
    const int rank = in.rank(), turns = param.turns();
    const int first = param.plane(0, rank), second = param.plane(1, rank);
    StridedLoop loop;
    int64_t from = 0, to = 0;
    for (int i = 0; i < rank; ++i) {
      int source = i;
      if (turns % 2 != 0 && i == first) source = second;
      if (turns % 2 != 0 && i == second) source = first;
      int64_t src_stride = StrideOf(in, source), dst_stride = StrideOf(out, i);
      if ((i == first && (turns == 1 || turns == 2)) || (i == second && turns >= 2)) {
        // Reverses the destination instead of the source where the source is contiguous, because
        // StridedCopy transposes by tiles only if the source stride is 1.
        const bool transposes = src_stride == 1 && dst_stride != 1;
        int64_t& stride = transposes ? dst_stride : src_stride;
        (transposes ? to : from) += (out[i] - 1) * stride;
        stride = -stride;
      }
      loop.Add(out[i], src_stride, dst_stride);
    }
    return Mover::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], ElementAt(c.inputs[0], from),
                       ElementAt(c.outputs[0], to));
  }

  // Returns the number of rows that the axes before `axis` make of the joined array, each of which
  // has a part of every input. A joined vector is one row, whatever the axis is: hstack joins
  // vectors along axis 0 instead of 1.
  static int64_t OuterOf(const Shape& joined, int axis) {
    return joined.Product(0, joined.rank() == 1 ? 0 : axis);
  }

  // Joins the inputs along kAxis of the output: copies each input, seen as a matrix of OuterOf
  // rows, to its columns of the output's rows. Inputs of fewer axes than the output need no
  // reshaping, as their elements lie in the same order.
  template <int kAxis>
  static absl::Status Stack(const KernelContext& c) {
    const ArrayView& joined = c.outputs[0];
    if (c.reqs[0] == WriteReq::kNull || joined.size() == 0) return absl::OkStatus();
    const int64_t outer = OuterOf(joined.shape, kAxis), row = joined.size() / outer;
    int64_t begin = 0;
    for (const ArrayView& input : c.inputs) {
      const int64_t columns = input.size() / outer;
      if (columns == 0) continue;
      StridedLoop loop;
      loop.Add(outer, columns, row);
      loop.Add(columns, 1, 1);
      COOPER_RETURN_IF_ERROR(
          Mover::Copy(c, loop, joined.dtype, c.reqs[0], input.data, ElementAt(joined, begin)));
      begin += columns;
    }
    return absl::OkStatus();
  }

  // Copies the columns of ograd to the gradients of the inputs: the reverse of Stack, with one
  // output for each input of the forward operator.
  template <int kAxis>
  static absl::Status StackGradient(const KernelContext& c) {
    const ArrayView& joined = c.inputs[0];
    if (joined.size() == 0) return absl::OkStatus();
    const int64_t outer = OuterOf(joined.shape, kAxis), row = joined.size() / outer;
    int64_t begin = 0;
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      const int64_t columns = c.outputs[i].size() / outer;
      if (columns == 0) continue;
      if (c.reqs[i] != WriteReq::kNull) {
        StridedLoop loop;
        loop.Add(outer, row, columns);
        loop.Add(columns, 1, 1);
        COOPER_RETURN_IF_ERROR(Mover::Copy(c, loop, joined.dtype, c.reqs[i],
                                           ElementAt(joined, begin), c.outputs[i].data));
      }
      begin += columns;
    }
    return absl::OkStatus();
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_np_moveaxis", device, kAnyDType, PermuteKernel<Mover, MoveaxisParam>},
        {"_np_roll", device, kAnyDType, Roll},
        {"_npi_rot90", device, kAnyDType, Rot90},
        {"_npi_hstack", device, kAnyDType, Stack<1>},
        {"_npi_vstack", device, kAnyDType, Stack<0>},
        {"_npi_dstack", device, kAnyDType, Stack<2>},
        {"_npi_column_stack", device, kAnyDType, Stack<1>},
        {"_backward_np_hstack", device, kAnyDType, StackGradient<1>},
        {"_backward_np_vstack", device, kAnyDType, StackGradient<0>},
        {"_backward_np_dstack", device, kAnyDType, StackGradient<2>},
        {"_backward_np_column_stack", device, kAnyDType, StackGradient<1>},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_MOVEMENT_KERNELS_H_
