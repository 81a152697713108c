// GPU kernels of SequenceMask, SequenceReverse, SequenceLast and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/sequence_steps.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sequence_param.h"

namespace cooper {
namespace {

struct Steps : SequenceSteps {
  DeviceIndices lengths;  // null data: all sequences have full length

  Steps(const KernelContext& c, const Shape& data, int axis) : SequenceSteps(data, axis) {
    if (c.inputs.size() > SequenceArrays::kLength) {
      lengths = DeviceIndices(c.inputs[SequenceArrays::kLength]);
    }
  }

  __device__ int64_t length(int64_t b) const {
    return lengths.data == nullptr ? time : Length(lengths[b]);
  }
  __device__ int64_t last(int64_t b) const {
    const int64_t n = length(b);
    return at(n > 0 ? n - 1 : 0, b);
  }
};

struct Mask {
  Steps steps;
  __device__ RowMove operator()(int64_t i) const {
    const int64_t t = i / steps.batch, b = i - t * steps.batch, row = steps.at(t, b);
    return {t < steps.length(b) ? row : -1, row};
  }
};

struct Reverse {
  Steps steps;
  __device__ RowMove operator()(int64_t i) const {
    const int64_t t = i / steps.batch, b = i - t * steps.batch, length = steps.length(b);
    return {steps.at(t < length ? length - 1 - t : t, b), steps.at(t, b)};
  }
};

struct Last {
  Steps steps;
  __device__ RowMove operator()(int64_t b) const { return {steps.last(b), b}; }
};

struct LastBackward {
  Steps steps;
  __device__ RowMove operator()(int64_t b) const { return {b, steps.last(b)}; }
};

template <typename Map>
absl::Status Move(const KernelContext& c, const Steps& steps, int64_t rows, double fill = 0) {
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  return MoveRows(c, rows, steps.size, Map{steps}, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data,
                  c.outputs[0].data, fill);
}

absl::Status SequenceMaskGpu(const KernelContext& c) {
  if (c.inputs.size() == 1) return CudaMover::CopyAll(c, c.inputs[0], c.reqs[0], c.outputs[0]);
  const auto& param = c.param<SequenceMaskParam>();
  const Steps steps(c, c.inputs[0].shape, param.axis);
  return Move<Mask>(c, steps, steps.time * steps.batch, param.value);
}

absl::Status SequenceReverseGpu(const KernelContext& c) {
  const Steps steps(c, c.inputs[0].shape, c.param<SequenceReverseParam>().axis);
  return Move<Reverse>(c, steps, steps.time * steps.batch);
}

absl::Status SequenceLastGpu(const KernelContext& c) {
  const Steps steps(c, c.inputs[0].shape, c.param<SequenceParam>().axis);
  return Move<Last>(c, steps, steps.batch);
}

absl::Status SequenceLastBackwardGpu(const KernelContext& c) {
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  const Steps steps(c, c.outputs[0].shape, c.param<SequenceParam>().axis);
  return Move<LastBackward>(c, steps, steps.batch);
}

COOPER_REGISTER_KERNEL(SequenceMask, DeviceType::kGpu, kAnyDType, SequenceMaskGpu);
COOPER_REGISTER_KERNEL(SequenceReverse, DeviceType::kGpu, kAnyDType, SequenceReverseGpu);
COOPER_REGISTER_KERNEL(SequenceLast, DeviceType::kGpu, kAnyDType, SequenceLastGpu);
COOPER_REGISTER_KERNEL(_backward_SequenceLast, DeviceType::kGpu, kAnyDType,
                       SequenceLastBackwardGpu);

}  // namespace
}  // namespace cooper
