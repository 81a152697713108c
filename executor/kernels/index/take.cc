// Kernels of take, pick, batch_take and the gradients of the first two.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/index/take_param.h"

namespace cooper {
namespace {

absl::Status TakeCpu(const KernelContext& c) {
  using enum TakeArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<TakeParam>();
  if (param.mode == IndexMode::kRaise) {
    const IndexReader indices(c.inputs[kIndex]);
    const int64_t n = IndexedExtents(c.inputs[kData].shape, param.axis).n;
    for (int64_t i = 0; i < c.inputs[kIndex].size(); ++i) {
      if (indices[i] >= 0 && indices[i] < n) continue;
      return TakeIndexError(indices[i], param.axis, c.inputs[kData].shape);
    }
  }
  CopyIndexedRows(c.inputs[kData], param.axis, c.inputs[kIndex], param.mode, c.reqs[0],
                  c.outputs[0]);
  return absl::OkStatus();
}

absl::Status TakeBackwardCpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<TakeParam>();
  AddIndexedRows(c.inputs[kOgrad], c.inputs[kIndex], param.mode, c.reqs[0], param.axis,
                 c.outputs[0]);
  return absl::OkStatus();
}

// Calls fn(i, j) for the picks i, where j is the offset in data of the picked element, on several
// threads.
template <typename Fn>
void ForPicks(const IndexedExtents& data, const IndexReader& index, IndexMode mode, const Fn& fn) {
  ParallelForPlain(data.outer * data.inner, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = IndexInRange(index[i], data.n, mode);
      fn(i, (i / data.inner * data.n + at) * data.inner + i % data.inner);
    }
  });
}

absl::Status Pick(const KernelContext& c, int axis, IndexMode mode) {
  using enum TakeArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const IndexedExtents data(c.inputs[kData].shape, axis);
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = c.inputs[kData].as<T>();
    T* out = c.outputs[0].as<T>();
    ForPicks(data, IndexReader(c.inputs[kIndex]), mode,
             [&](int64_t i, int64_t j) { MoveRow(1, in + j, c.reqs[0], out + i); });
  });
  return absl::OkStatus();
}

absl::Status PickCpu(const KernelContext& c) {
  const auto& param = c.param<PickParam>();
  return Pick(c, param.axis.value_or(-1), param.mode);
}

absl::Status BatchTakeCpu(const KernelContext& c) { return Pick(c, -1, IndexMode::kClip); }

absl::Status PickBackwardCpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  if (c.inputs[kOgrad].size() == 0) return absl::OkStatus();
  const auto& param = c.param<PickParam>();
  const IndexedExtents data(c.outputs[0].shape, param.axis.value_or(-1));
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForPicks(data, IndexReader(c.inputs[kIndex]), param.mode, [&](int64_t i, int64_t j) {
      MoveRow(1, c.inputs[kOgrad].as<T>() + i, WriteReq::kAdd, c.outputs[0].as<T>() + j);
    });
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(take, DeviceType::kCpu, kAnyDType, TakeCpu);
COOPER_REGISTER_KERNEL(_backward_take, DeviceType::kCpu, kAnyDType, TakeBackwardCpu);
COOPER_REGISTER_KERNEL(pick, DeviceType::kCpu, kAnyDType, PickCpu);
COOPER_REGISTER_KERNEL(_backward_pick, DeviceType::kCpu, kAnyDType, PickBackwardCpu);
COOPER_REGISTER_KERNEL(batch_take, DeviceType::kCpu, kAnyDType, BatchTakeCpu);

}  // namespace
}  // namespace cooper
