// Kernels that split an array along an axis or concatenate arrays: SliceChannel, _split_v2, Concat,
// stack and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/shape/split_axis_of.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {
namespace {

// Calls copy(piece, its index, its first element in `whole`, loop) for each piece. The piece is the
// loop's source, the whole its destination.
template <typename Copy>
absl::Status ForRanges(const ArrayView& whole, int axis, absl::Span<const ArrayView> pieces,
                       const Copy& copy) {
  if (whole.size() == 0) return absl::OkStatus();
  if (axis < 0) axis += whole.shape.rank();
  const int64_t outer = whole.shape.Product(0, axis);
  const int64_t inner = StrideOf(whole.shape, axis);
  const int64_t stride = whole.shape[axis] * inner;
  // Many pieces, such as one for each time step, are distributed over threads; a few large ones are
  // copied one by one, and StridedCopy distributes each.
  const int64_t count = static_cast<int64_t>(pieces.size());
  const int64_t grain = count < 8 ? count : 1 + 32768 / (whole.size() / count + 1);
  int64_t at = 0;
  if (count <= grain || NumThreads() == 1) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t run = pieces[i].size() / outer;
      StridedLoop loop;
      loop.Add(outer, run, stride);
      loop.Add(run, 1, 1);
      if (absl::Status status = copy(pieces[i], i, at, loop); !status.ok()) return status;
      at += run;
    }
    return absl::OkStatus();
  }
  ParallelForPlain(count, grain, [&](int64_t begin, int64_t end) {
    int64_t first = 0;
    for (int64_t i = 0; i < begin; ++i) first += pieces[i].size() / outer;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t run = pieces[i].size() / outer;
      StridedLoop loop;
      loop.Add(outer, run, stride);
      loop.Add(run, 1, 1);
      copy(pieces[i], i, first, loop).IgnoreError();  // two loops are never too deep
      first += run;
    }
  });
  return absl::OkStatus();
}

template <typename Param>
absl::Status SplitCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  const ArrayView& whole = c.inputs[kData];
  return ForRanges(whole, SplitAxisOf(c.param<Param>()), c.outputs,
                   [&](const ArrayView& piece, int64_t i, int64_t at, const StridedLoop& loop) {
                     StridedLoop back;  // the whole is the source here
                     for (int level = 0; level < loop.rank(); ++level) {
                       back.Add(loop[level].extent, loop[level].dst_stride, loop[level].src_stride);
                     }
                     if (loop.empty()) return absl::OkStatus();
                     return StridedCopy(back, piece.dtype, c.reqs[i], ElementAt(whole, at),
                                        piece.data);
                   });
}

template <typename Param>
absl::Status JoinCpu(const KernelContext& c) {
  const ArrayView& whole = c.outputs[0];
  return ForRanges(whole, SplitAxisOf(c.param<Param>()), c.inputs,
                   [&](const ArrayView& piece, int64_t, int64_t at, const StridedLoop& loop) {
                     return StridedCopy(loop, piece.dtype, c.reqs[0], piece.data,
                                        ElementAt(whole, at));
                   });
}

COOPER_REGISTER_KERNEL(SliceChannel, DeviceType::kCpu, kAnyDType, SplitCpu<SliceChannelParam>);
COOPER_REGISTER_KERNEL(_backward_SliceChannel, DeviceType::kCpu, kAnyDType,
                       JoinCpu<SliceChannelParam>);
COOPER_REGISTER_KERNEL(_split_v2, DeviceType::kCpu, kAnyDType, SplitCpu<SplitParam>);
COOPER_REGISTER_KERNEL(_split_v2_backward, DeviceType::kCpu, kAnyDType, JoinCpu<SplitParam>);
COOPER_REGISTER_KERNEL(Concat, DeviceType::kCpu, kAnyDType, JoinCpu<ConcatParam>);
COOPER_REGISTER_KERNEL(_backward_Concat, DeviceType::kCpu, kAnyDType, SplitCpu<ConcatParam>);
COOPER_REGISTER_KERNEL(_rnn_param_concat, DeviceType::kCpu, kAnyDType, JoinCpu<ConcatParam>);
COOPER_REGISTER_KERNEL(stack, DeviceType::kCpu, kAnyDType, JoinCpu<StackParam>);
COOPER_REGISTER_KERNEL(_backward_stack, DeviceType::kCpu, kAnyDType, SplitCpu<StackParam>);

}  // namespace
}  // namespace cooper
