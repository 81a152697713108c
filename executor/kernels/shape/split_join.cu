// GPU kernels that split an array along an axis or concatenate arrays: SliceChannel, _split_v2,
// Concat, stack and their gradients. One launch moves up to kMaxSlices slices, such as all time
// steps of a sequence.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/kernels/shape/split_axis_of.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int kMaxSlices = 128;  // a kernel's arguments have at most 4096 bytes

// Neighbouring slices of rows, with lengths in words. A null slice is skipped.
struct SliceTable {
  void* data[kMaxSlices];
  int64_t begin[kMaxSlices + 1];  // within the part of a row that these slices cover
  int count;
};

// Moves the words, one for each thread. The rows of the whole have `stride` words.
template <typename Word, bool kSplit>
__global__ void MoveSlices(int64_t rows, int64_t stride, const SliceTable slices, Word* whole) {
  const int64_t width = slices.begin[slices.count];
  for (int64_t i = FirstElement(); i < rows * width; i += ElementStep()) {
    const int64_t row = i / width, column = i - row * width;
    // Finds the last slice that does not begin after the column; empty slices come before it.
    int low = 0, high = slices.count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (slices.begin[middle] <= column ? low : high) = middle;
    }
    Word* slice = static_cast<Word*>(slices.data[low]);
    if (slice == nullptr) continue;
    slice += row * (slices.begin[low + 1] - slices.begin[low]) + (column - slices.begin[low]);
    Word* at = whole + row * stride + column;
    if (kSplit) {
      *slice = *at;
    } else {
      *at = *slice;
    }
  }
}

struct Rows {
  int64_t outer, stride;  // rows, elements of a row
};

Rows RowsOf(const Shape& whole, int axis) {
  if (axis < 0) axis += whole.rank();
  return {whole.Product(0, axis), whole[axis] * StrideOf(whole, axis)};
}

// Moves the slices i for which `wanted(i)` is true.
template <bool kSplit, typename Wanted>
absl::Status Move(const KernelContext& c, const ArrayView& whole, const Rows& rows,
                  absl::Span<const ArrayView> views, const Wanted& wanted) {
  const int64_t size = SizeOf(whole.dtype);
  int64_t word = WordBytes(size, {whole.data}, {rows.stride * size});
  for (size_t i = 0; i < views.size(); ++i) {
    const void* data = wanted(i) ? views[i].data : nullptr;
    word = std::min(word, WordBytes(size, {data}, {views[i].size() / rows.outer * size}));
  }
  return DispatchWord(word, [&](auto zero) {
    using Word = decltype(zero);
    int64_t at = 0;
    for (size_t first = 0; first < views.size(); first += kMaxSlices) {
      SliceTable slices = {};
      slices.count = static_cast<int>(std::min<size_t>(kMaxSlices, views.size() - first));
      for (int k = 0; k < slices.count; ++k) {
        const ArrayView& view = views[first + k];
        slices.data[k] = wanted(first + k) ? view.data : nullptr;
        slices.begin[k + 1] = slices.begin[k] + view.size() / rows.outer * size / word;
      }
      const int64_t width = slices.begin[slices.count];
      COOPER_RETURN_IF_ERROR(LaunchElements(c, rows.outer * width, MoveSlices<Word, kSplit>,
                                            rows.outer, rows.stride * size / word, slices,
                                            whole.as<Word>() + at));
      at += width;
    }
    return absl::OkStatus();
  });
}

// Adds the slices whose request is kAdd, one copy for each.
template <bool kSplit, typename Added>
absl::Status Add(const KernelContext& c, const ArrayView& whole, const Rows& rows,
                 absl::Span<const ArrayView> views, const Added& added) {
  int64_t at = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    const int64_t run = views[i].size() / rows.outer;
    StridedLoop loop;
    loop.Add(rows.outer, kSplit ? rows.stride : run, kSplit ? run : rows.stride);
    loop.Add(run, 1, 1);
    if (added(i) && !loop.empty()) {
      void* part = ElementAt(whole, at);
      COOPER_RETURN_IF_ERROR(CudaMover::Copy(c, loop, whole.dtype, WriteReq::kAdd,
                                             kSplit ? part : views[i].data,
                                             kSplit ? views[i].data : part));
    }
    at += run;
  }
  return absl::OkStatus();
}

template <typename Param>
absl::Status SplitGpu(const KernelContext& c) {
  const ArrayView& whole = c.inputs[0];
  if (whole.size() == 0) return absl::OkStatus();
  const Rows rows = RowsOf(whole.shape, SplitAxisOf(c.param<Param>()));
  auto written = [&](size_t i) { return c.reqs[i] == WriteReq::kWrite; };
  auto added = [&](size_t i) { return c.reqs[i] == WriteReq::kAdd; };
  bool any = false;
  for (size_t i = 0; i < c.outputs.size(); ++i) any |= written(i);
  if (any) COOPER_RETURN_IF_ERROR(Move<true>(c, whole, rows, c.outputs, written));
  return Add<true>(c, whole, rows, c.outputs, added);
}

template <typename Param>
absl::Status JoinGpu(const KernelContext& c) {
  const ArrayView& whole = c.outputs[0];
  if (whole.size() == 0 || c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Rows rows = RowsOf(whole.shape, SplitAxisOf(c.param<Param>()));
  auto all = [](size_t) { return true; };
  if (c.reqs[0] == WriteReq::kWrite) return Move<false>(c, whole, rows, c.inputs, all);
  return Add<false>(c, whole, rows, c.inputs, all);
}

COOPER_REGISTER_KERNEL(SliceChannel, DeviceType::kGpu, kAnyDType, SplitGpu<SliceChannelParam>);
COOPER_REGISTER_KERNEL(_backward_SliceChannel, DeviceType::kGpu, kAnyDType,
                       JoinGpu<SliceChannelParam>);
COOPER_REGISTER_KERNEL(_split_v2, DeviceType::kGpu, kAnyDType, SplitGpu<SplitParam>);
COOPER_REGISTER_KERNEL(_split_v2_backward, DeviceType::kGpu, kAnyDType, JoinGpu<SplitParam>);
COOPER_REGISTER_KERNEL(Concat, DeviceType::kGpu, kAnyDType, JoinGpu<ConcatParam>);
COOPER_REGISTER_KERNEL(_backward_Concat, DeviceType::kGpu, kAnyDType, SplitGpu<ConcatParam>);
COOPER_REGISTER_KERNEL(_rnn_param_concat, DeviceType::kGpu, kAnyDType, JoinGpu<ConcatParam>);
COOPER_REGISTER_KERNEL(stack, DeviceType::kGpu, kAnyDType, JoinGpu<StackParam>);
COOPER_REGISTER_KERNEL(_backward_stack, DeviceType::kGpu, kAnyDType, SplitGpu<StackParam>);

}  // namespace
}  // namespace cooper
