// GPU kernels of argmax, argmin and argmax_channel. If there are few lines, different blocks or
// threads search parts of a line, and a second kernel selects the best of their results.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/reduce/axis_view.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int kWarp = 32;
constexpr int64_t kMaxBlocks = 65536;

struct IsGreater {
  template <typename C>
  __device__ static bool Better(C x, C best) {
    return x > best;
  }
};

struct IsLess {
  template <typename C>
  __device__ static bool Better(C x, C best) {
    return x < best;
  }
};

// The best element so far and its position; -1 if there is none.
template <typename C>
struct Found {
  C value;
  int64_t position;

  // Keeps the better of the two: a NaN is better than any number, and the first of equal elements
  // wins.
  template <typename Order>
  __device__ void Take(const Found& other) {
    if (other.position < 0) return;
    if (position >= 0) {
      const bool nan = IsNan(value), other_nan = IsNan(other.value);
      if (nan && !other_nan) return;
      if (nan == other_nan) {
        const bool tied = nan || value == other.value;
        if (tied ? other.position > position : !Order::Better(other.value, value)) return;
      }
    }
    *this = other;
  }

  // Takes an element that follows all elements taken so far.
  template <typename Order>
  __device__ void TakeNext(C next, int64_t at) {
    if (position < 0 || Order::Better(next, value) || (IsNan(next) && !IsNan(value))) {
      value = next;
      position = at;
    }
  }
};

// The distribution of lines: a line has `parts` parts of `part` elements, the last of which may
// have fewer. `lanes` threads search a part: 1, those of a warp, or those of a block.
struct SearchPlan {
  AxisView view;
  int lanes;
  int64_t part, parts;

  explicit SearchPlan(const AxisView& v) : view(v), lanes(1), part(v.length), parts(1) {
    constexpr int64_t kLongLine = 64;  // the length from which threads share a line
    constexpr int64_t kWarpsLine = 2048;
    constexpr int64_t kMinPart = 4096, kBlocks = 1024;
    constexpr int64_t kMinOfThread = 32, kManyLines = 1 << 17;
    const int64_t lines = v.lines();
    if (v.length < kLongLine || lines == 0) return;
    int64_t most = 1;
    if (v.inner >= kWarp) {
      // Neighbouring threads read neighbouring lines.
      most = std::min({v.length / kMinOfThread, kManyLines / lines, kBlocks});
    } else if (v.length <= kWarpsLine) {
      lanes = kWarp;
    } else {
      lanes = kThreads;
      most = std::min(v.length / kMinPart, kBlocks / lines);
    }
    if (most <= 1) return;
    // A part is a whole number of memory sectors.
    part = ((v.length + most - 1) / most + kWarp - 1) / kWarp * kWarp;
    parts = (v.length + part - 1) / part;
  }

  // Part p of line l is item p * lines + l.
  __host__ __device__ int64_t items() const { return view.lines() * parts; }
  // Returns the bytes for the result of each part, if a line has several.
  template <typename C>
  int64_t WorkspaceBytes() const {
    return parts == 1 ? 0 : items() * static_cast<int64_t>(sizeof(Found<C>));
  }
};

// Takes the elements begin, begin + step, ... below end. Issues several loads at once.
template <typename Order, typename C, typename Load>
__device__ void SearchRange(int64_t begin, int64_t end, int64_t step, Load&& load, Found<C>* best) {
  constexpr int kLoads = sizeof(C) <= sizeof(float) ? 8 : 4;
  int64_t k = begin;
  for (; k + (kLoads - 1) * step < end; k += kLoads * step) {
    C values[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) values[i] = load(k + i * step);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) best->template TakeNext<Order>(values[i], k + i * step);
  }
  for (; k < end; k += step) best->template TakeNext<Order>(load(k), k);
}

// Leaves the best of `lanes` neighbouring threads in the first of them. All threads of the block
// must call it.
template <typename Order, typename C>
__device__ void TakeOfLanes(int lanes, Found<C>* best) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ C values[kWarps];
  __shared__ int64_t positions[kWarps];
  if (lanes == 1) return;
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const C value = __shfl_xor_sync(0xffffffffu, best->value, step);
    best->template Take<Order>({value, __shfl_xor_sync(0xffffffffu, best->position, step)});
  }
  if (lanes == kWarp) return;
  const int t = static_cast<int>(threadIdx.x);
  if (t % kWarp == 0) {
    values[t / kWarp] = best->value;
    positions[t / kWarp] = best->position;
  }
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < kWarps; ++i) best->template Take<Order>({values[i], positions[i]});
  }
  __syncthreads();  // until all threads have read the shared values
}

// Calls find(item, lane) in all lanes of an item, and end(item, the best result of its lanes) in
// one of them.
template <typename Order, typename C, typename Find, typename End>
__device__ void ForEachItem(int64_t items, int lanes, Find&& find, End&& end) {
  const int t = static_cast<int>(threadIdx.x), lane = t % lanes;
  const int64_t of_block = kThreads / lanes;
  for (int64_t first = blockIdx.x * of_block; first < items; first += gridDim.x * of_block) {
    const int64_t item = first + t / lanes;
    Found<C> best = {C{0}, -1};
    if (item < items) best = find(item, lane);
    TakeOfLanes<Order>(lanes, &best);
    if (lane == 0 && item < items) end(item, best);
  }
}

// Searches the parts of lines. `found` has one entry for each item of the plan, or is null if lines
// have one part.
template <typename Order, typename C>
__global__ void Search(const SearchPlan plan, const void* data, DType dtype, Found<C>* found,
                       void* out, DType out_dtype, bool add) {
  const auto find = [&](int64_t item, int lane) {
    const int64_t part = found == nullptr ? 0 : item / plan.view.lines();
    const int64_t base = plan.view.First(item - part * plan.view.lines());
    const int64_t begin = part * plan.part, inner = plan.view.inner;
    const int64_t end = min(begin + plan.part, plan.view.length);
    Found<C> best = {C{0}, -1};
    if constexpr (std::is_same_v<C, float>) {
      if (dtype ==
          DType::kFloat32) {  // outside of the loop, so that loads do not wait for each other
        const float* const line = static_cast<const float*>(data) + base;
        SearchRange<Order>(
            begin + lane, end, plan.lanes, [=](int64_t k) { return line[k * inner]; }, &best);
        return best;
      }
    }
    SearchRange<Order>(
        begin + lane, end, plan.lanes,
        [=](int64_t k) { return LoadElement<C>(data, dtype, base + k * inner); }, &best);
    return best;
  };
  ForEachItem<Order, C>(plan.items(), plan.lanes, find, [&](int64_t item, const Found<C>& best) {
    if (found != nullptr) {
      found[item] = best;
    } else {
      StoreElement(out, out_dtype, item, best.position, add);
    }
  });
}

// Selects the best of each line's parts.
template <typename Order, typename C>
__global__ void TakeOfParts(int64_t lines, int64_t parts, int lanes, const Found<C>* found,
                            void* out, DType out_dtype, bool add) {
  const auto find = [&](int64_t line, int lane) {
    Found<C> best = {C{0}, -1};
    for (int64_t i = lane; i < parts; i += lanes) {
      best.template Take<Order>(found[i * lines + line]);
    }
    return best;
  };
  ForEachItem<Order, C>(lines, lanes, find, [&](int64_t line, const Found<C>& best) {
    StoreElement(out, out_dtype, line, best.position, add);
  });
}

dim3 GridFor(int64_t items, int lanes) {
  const int64_t of_block = kThreads / lanes;
  return dim3(BlocksFor((items + of_block - 1) / of_block, kMaxBlocks));
}

template <typename Order>
absl::Status RunSearch(const KernelContext& c, std::optional<int64_t> axis) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[0];
  const ArrayView& out = c.outputs[0];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(data.shape, axis));
  COOPER_RETURN_IF_ERROR(view.CheckSearchable());
  if (view.lines() == 0) return absl::OkStatus();
  const SearchPlan plan(view);
  return DispatchCompute(data.dtype, /*exact_integers=*/true, [&](auto zero) -> absl::Status {
    using C = decltype(zero);
    auto* const found = plan.parts == 1 ? nullptr : static_cast<Found<C>*>(c.workspace);
    COOPER_RETURN_IF_ERROR(Launch(c, GridFor(plan.items(), plan.lanes), dim3(kThreads),
                                  Search<Order, C>, plan, data.data, data.dtype, found, out.data,
                                  out.dtype, add));
    if (found == nullptr) return absl::OkStatus();
    const int lanes = plan.parts <= 2 * kWarp ? kWarp : kThreads;
    return Launch(c, GridFor(view.lines(), lanes), dim3(kThreads), TakeOfParts<Order, C>,
                  view.lines(), plan.parts, lanes, found, out.data, out.dtype, add);
  });
}

absl::StatusOr<Prepared> PrepareAlong(const PrepareContext& c, std::optional<int64_t> axis) {
  if (c.reqs[0] == WriteReq::kNull) return Prepared{};
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(c.inputs[0].shape, axis));
  const SearchPlan plan(view);
  Prepared prepared;
  COOPER_RETURN_IF_ERROR(
      DispatchCompute(c.inputs[0].dtype, /*exact_integers=*/true, [&](auto zero) {
        prepared.workspace_bytes = plan.WorkspaceBytes<decltype(zero)>();
        return absl::OkStatus();
      }));
  return prepared;
}

template <typename Order>
absl::Status SearchGpu(const KernelContext& c) {
  return RunSearch<Order>(c, c.param<ArgReduceParam>().axis);
}

absl::StatusOr<Prepared> PrepareSearch(const PrepareContext& c) {
  return PrepareAlong(c, c.param<ArgReduceParam>().axis);
}

absl::Status ArgmaxChannelGpu(const KernelContext& c) {
  return RunSearch<IsGreater>(c, ChannelAxis(c.inputs[0].shape));
}

absl::StatusOr<Prepared> PrepareArgmaxChannel(const PrepareContext& c) {
  return PrepareAlong(c, ChannelAxis(c.inputs[0].shape));
}

COOPER_REGISTER_KERNEL(argmax, DeviceType::kGpu, kAnyDType, SearchGpu<IsGreater>, PrepareSearch);
COOPER_REGISTER_KERNEL(argmin, DeviceType::kGpu, kAnyDType, SearchGpu<IsLess>, PrepareSearch);
COOPER_REGISTER_KERNEL(argmax_channel, DeviceType::kGpu, kAnyDType, ArgmaxChannelGpu,
                       PrepareArgmaxChannel);

}  // namespace
}  // namespace cooper
