// Kernels that take a part of an array, put one back, or assign to one.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cpu/shape/strided_copy.h"
#include "executor/kernel.h"
#include "symbol/ops/shape/slice_param.h"

namespace cooper {
namespace {

// Where the part begins in the whole, and the loop over both: the whole is the source.
struct PartLoop {
  StridedLoop loop;
  int64_t begin = 0;

  void Add(const Shape& whole, const Shape& part, int axis, int64_t first, int64_t step) {
    const int64_t stride = StrideOf(whole, axis);
    begin += first * stride;
    loop.Add(part[axis], step * stride, StrideOf(part, axis));
  }

  StridedLoop Reversed() const {
    StridedLoop reversed;
    for (int i = 0; i < loop.rank(); ++i) {
      reversed.Add(loop[i].extent, loop[i].dst_stride, loop[i].src_stride);
    }
    return reversed;
  }
};

template <typename Param>
PartLoop LoopOf(const Param& param, const Shape& whole, const Shape& part) {
  PartLoop result;
  for (int i = 0; i < whole.rank(); ++i) {
    const SliceRange range = RangeAlong(i, param, whole, part);
    result.Add(whole, part, i, range.begin, range.step);
  }
  return result;
}

template <typename Param>
absl::Status TakePart(const KernelContext& c, const Param& param) {
  const ArrayView& whole = c.inputs[0];
  const ArrayView& part = c.outputs[0];
  if (part.size() == 0 || c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const PartLoop part_loop = LoopOf(param, whole.shape, part.shape);
  return StridedCopy(part_loop.loop, part.dtype, c.reqs[0], ElementAt(whole, part_loop.begin),
                     part.data);
}

absl::Status PutPart(const PartLoop& part_loop, const ArrayView& part, WriteReq req,
                     const ArrayView& whole) {
  if (part.size() == 0) return absl::OkStatus();
  return StridedCopy(part_loop.Reversed(), whole.dtype, req, part.data,
                     ElementAt(whole, part_loop.begin));
}

template <typename Param>
absl::Status PutPartInZeros(const KernelContext& c, const Param& param) {
  const ArrayView& part = c.inputs[0];
  const ArrayView& whole = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (part.size() != whole.size()) ZeroIfWrite(c.reqs[0], whole);
  return PutPart(LoopOf(param, whole.shape, part.shape), part, c.reqs[0], whole);
}

template <typename Param>
absl::Status PartCpu(const KernelContext& c) {
  return TakePart(c, c.param<Param>());
}
template <typename Param>
absl::Status PartBackwardCpu(const KernelContext& c) {
  return PutPartInZeros(c, c.param<Param>());
}
absl::Status SliceLikeCpu(const KernelContext& c) { return TakePart(c, LeadingPart()); }
absl::Status SliceLikeBackwardCpu(const KernelContext& c) {
  return PutPartInZeros(c, LeadingPart());
}

// Under kAdd the result is made in the workspace and then added.
absl::StatusOr<Prepared> PrepareAssign(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

// Calls assign(target) with an array that holds input 0, then brings it to the output.
template <typename Assign>
absl::Status Assigned(const KernelContext& c, const Assign& assign) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) target.data = c.workspace;
  if (absl::Status s = CopyElements(c.inputs[0], WriteReq::kWrite, target); !s.ok()) return s;
  if (absl::Status s = assign(target); !s.ok()) return s;
  if (c.reqs[0] == WriteReq::kWrite) return absl::OkStatus();
  return CopyElements(target, WriteReq::kAdd, c.outputs[0]);
}

absl::Status SliceAssignCpu(const KernelContext& c) {
  using enum SliceAssignArrays::Input;
  return Assigned(c, [&](const ArrayView& target) {
    const ArrayView& part = c.inputs[kRhs];
    return PutPart(LoopOf(c.param<SliceParam>(), target.shape, part.shape), part, WriteReq::kWrite,
                   target);
  });
}

absl::Status SliceAssignScalarCpu(const KernelContext& c) {
  return Assigned(c, [&](const ArrayView& target) {
    const auto& param = c.param<SliceAssignScalarParam>();
    return DispatchDType(target.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T value = ConvertElement<T>(param.scalar);
      StridedLoop loop;
      int64_t begin = 0;
      for (int i = 0; i < target.shape.rank(); ++i) {
        const SliceRange range = param.range(i, target.shape[i]);
        const int64_t stride = StrideOf(target.shape, i);
        begin += range.begin * stride;
        loop.Add(range.extent, 0, range.step * stride);
      }
      if (loop.empty()) return absl::OkStatus();
      return StridedCopy(loop, target.dtype, WriteReq::kWrite, &value, ElementAt(target, begin));
    });
  });
}

COOPER_REGISTER_KERNEL(slice, DeviceType::kCpu, kAnyDType, PartCpu<SliceParam>);
COOPER_REGISTER_KERNEL(_backward_slice, DeviceType::kCpu, kAnyDType, PartBackwardCpu<SliceParam>);
COOPER_REGISTER_KERNEL(slice_axis, DeviceType::kCpu, kAnyDType, PartCpu<SliceAxisParam>);
COOPER_REGISTER_KERNEL(_backward_slice_axis, DeviceType::kCpu, kAnyDType,
                       PartBackwardCpu<SliceAxisParam>);
COOPER_REGISTER_KERNEL(slice_like, DeviceType::kCpu, kAnyDType, SliceLikeCpu);
COOPER_REGISTER_KERNEL(_backward_slice_like, DeviceType::kCpu, kAnyDType, SliceLikeBackwardCpu);
COOPER_REGISTER_KERNEL(Crop, DeviceType::kCpu, kAnyDType, PartCpu<CropParam>);
COOPER_REGISTER_KERNEL(_backward_Crop, DeviceType::kCpu, kAnyDType, PartBackwardCpu<CropParam>);
COOPER_REGISTER_KERNEL(_slice_assign, DeviceType::kCpu, kAnyDType, SliceAssignCpu, PrepareAssign);
COOPER_REGISTER_KERNEL(_slice_assign_scalar, DeviceType::kCpu, kAnyDType, SliceAssignScalarCpu,
                       PrepareAssign);

}  // namespace
}  // namespace cooper
