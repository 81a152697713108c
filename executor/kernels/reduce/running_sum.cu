// GPU kernels of cumsum and its gradient. If there are few lines, they are split into chunks with
// one block each: one kernel sums the chunks, and another computes running sums along each chunk
// from the sum of the chunks before it. Uses no atomics: equal inputs give equal bits.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reduce/axis_view.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr int kPerThread = 4;                     // elements that a thread sums sequentially
constexpr int64_t kTile = kThreads * kPerThread;  // elements that a block processes at once
constexpr int64_t kMaxBlocks = 65536;
constexpr int64_t kLongLine = 64;  // the length from which a block shares a line

// The arrays, and the distribution of a line: it has `chunks` chunks of `chunk` elements, a
// multiple of kTile; the last may have fewer.
struct RunningSum {
  AxisView view;
  const void* data;
  DType dtype;
  void* out;
  DType out_dtype;
  bool add;
  bool from_last;
  bool quads;  // whether both are float32 and lines allow aligned loads of four
  int64_t chunk, chunks;

  void ChooseChunks() {
    constexpr int64_t kMinChunk = 4096, kBlocks = 1024;
    chunk = view.length;
    chunks = 1;
    const int64_t most =
        view.lines() == 0 ? 0 : std::min(view.length / kMinChunk, kBlocks / view.lines());
    if (most <= 3) return;  // a chunk is read twice, which is faster only for several chunks
    chunk = ((view.length + most - 1) / most + kTile - 1) / kTile * kTile;
    chunks = (view.length + chunk - 1) / chunk;
  }

  // Returns the index of element k of the sum in a line that begins at `base`.
  __device__ int64_t At(int64_t base, int64_t k) const {
    return base + (from_last ? view.length - 1 - k : k) * view.inner;
  }

  // Loads the elements [k, k + kPerThread) of a line, or 0 beyond its end.
  template <typename C>
  __device__ void Load(int64_t base, int64_t k, C* values) const {
    if constexpr (std::is_same_v<C, float>) {
      if (quads) {
        float4 four = {0, 0, 0, 0};
        if (k < view.length) four = *FourAt(static_cast<const float*>(data), base, k);
        values[0] = from_last ? four.w : four.x;
        values[1] = from_last ? four.z : four.y;
        values[2] = from_last ? four.y : four.z;
        values[3] = from_last ? four.x : four.w;
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      values[i] = k + i < view.length ? LoadElement<C>(data, dtype, At(base, k + i)) : C{0};
    }
  }

  template <typename C>
  __device__ void Store(int64_t base, int64_t k, const C* values) const {
    if constexpr (std::is_same_v<C, float>) {
      if (quads) {
        if (k >= view.length) return;
        float4* const to = FourAt(static_cast<float*>(out), base, k);
        float4 four = from_last ? float4{values[3], values[2], values[1], values[0]}
                                : float4{values[0], values[1], values[2], values[3]};
        if (add) {
          const float4 before = *to;
          four = {before.x + four.x, before.y + four.y, before.z + four.z, before.w + four.w};
        }
        *to = four;
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      if (k + i < view.length) StoreElement(out, out_dtype, At(base, k + i), values[i], add);
    }
  }

 private:
  // Returns the four elements of the sum from k on, in memory order.
  template <typename T>
  __device__ auto* FourAt(T* array, int64_t base, int64_t k) const {
    using Four = std::conditional_t<std::is_const_v<T>, const float4, float4>;
    return reinterpret_cast<Four*>(array + base + (from_last ? view.length - kPerThread - k : k));
  }
};

// Sums along one line in one thread.
template <typename C>
__global__ void SumLines(const RunningSum s) {
  for (int64_t line = FirstElement(); line < s.view.lines(); line += ElementStep()) {
    const int64_t base = s.view.First(line);
    C sum = 0;
    for (int64_t k = 0; k < s.view.length; ++k) {
      sum += LoadElement<C>(s.data, s.dtype, s.At(base, k));
      StoreElement(s.out, s.out_dtype, s.At(base, k), sum, s.add);
    }
  }
}

// Computes sums over the threads of a block. All of them must call.
template <typename C>
class BlockScan {
 public:
  // Returns the sum of the values of the threads before this one. Stores the sum of all values in
  // *all.
  __device__ C SumBefore(C value, C* all) {
    __shared__ C of_warps[2][kWarps];
    // Alternates between two arrays, because a thread may still read the previous one before its
    // barrier.
    C* const sums = of_warps[turn_];
    turn_ = 1 - turn_;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    for (int step = 1; step < kWarp; step *= 2) {
      const C below = __shfl_up_sync(0xffffffffu, value, step);
      if (lane >= step) value += below;
    }
    if (lane == kWarp - 1) sums[warp] = value;
    const C in_warp = __shfl_up_sync(0xffffffffu, value, 1);
    __syncthreads();
    C sum = 0, before = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      if (i == warp) before = sum;
      sum += sums[i];
    }
    *all = sum;
    return lane == 0 ? before : before + in_warp;
  }

 private:
  int turn_ = 0;
};

// Sums every chunk but the last one of each line: sums (lines, chunks).
template <typename C>
__global__ void SumChunks(const RunningSum s, C* sums) {
  BlockScan<C> scan;
  for (int64_t item = blockIdx.x; item < s.view.lines() * s.chunks; item += gridDim.x) {
    const int64_t line = item / s.chunks, number = item - line * s.chunks;
    if (number + 1 == s.chunks) continue;
    const int64_t base = s.view.First(line), end = (number + 1) * s.chunk;
    C sum = 0;
    for (int64_t k = number * s.chunk + threadIdx.x * kPerThread; k < end; k += kTile) {
      C values[kPerThread];
      s.Load(base, k, values);
      sum += (values[0] + values[1]) + (values[2] + values[3]);
    }
    C all;
    scan.SumBefore(sum, &all);
    if (threadIdx.x == 0) sums[item] = all;
  }
}

// Sums along a chunk in one block, a tile at a time. SumChunks has written `sums`.
template <typename C>
__global__ void SumAlongChunks(const RunningSum s, const C* sums) {
  BlockScan<C> scan;
  for (int64_t item = blockIdx.x; item < s.view.lines() * s.chunks; item += gridDim.x) {
    const int64_t line = item / s.chunks, number = item - line * s.chunks;
    const int64_t base = s.view.First(line);
    C before = 0;  // the sum of all elements before a tile
    if (number > 0) {
      C sum = 0;
      for (int64_t i = threadIdx.x; i < number; i += kThreads) sum += sums[item - number + i];
      scan.SumBefore(sum, &before);
    }
    const int64_t end = min((number + 1) * s.chunk, s.view.length);
    for (int64_t first = number * s.chunk; first < end; first += kTile) {
      const int64_t k = first + threadIdx.x * kPerThread;
      C values[kPerThread];
      s.Load(base, k, values);
#pragma unroll
      for (int i = 1; i < kPerThread; ++i) values[i] += values[i - 1];
      C all;
      const C offset = before + scan.SumBefore(values[kPerThread - 1], &all);
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) values[i] += offset;
      s.Store(base, k, values);
      before += all;
    }
  }
}

bool LiesInFours(const ArrayView& array) {
  return array.dtype == DType::kFloat32 &&
         reinterpret_cast<uintptr_t>(array.data) % sizeof(float4) == 0;
}

// Runs cumsum or its gradient. The axis is relative to `shape`, the shape of the forward input.
absl::Status RunCumsum(const KernelContext& c, const Shape& shape, bool from_last) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[0];
  const ArrayView& out = c.outputs[0];
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  if (out.size() == 0) return absl::OkStatus();
  RunningSum s = {.view = view,
                  .data = data.data,
                  .dtype = data.dtype,
                  .out = out.data,
                  .out_dtype = out.dtype,
                  .add = c.reqs[0] == WriteReq::kAdd,
                  .from_last = from_last};
  s.quads =
      view.inner == 1 && view.length % kPerThread == 0 && LiesInFours(data) && LiesInFours(out);
  s.ChooseChunks();
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) -> absl::Status {
    using C = decltype(zero);
    if (view.length < kLongLine) return LaunchElements(c, view.lines(), SumLines<C>, s);
    auto* const sums = static_cast<C*>(c.workspace);
    const dim3 grid(BlocksFor(view.lines() * s.chunks, kMaxBlocks));
    if (s.chunks > 1) {
      COOPER_RETURN_IF_ERROR(Launch(c, grid, dim3(kThreads), SumChunks<C>, s, sums));
    }
    return Launch(c, grid, dim3(kThreads), SumAlongChunks<C>, s, sums);
  });
}

absl::StatusOr<Prepared> PrepareOver(const PrepareContext& c, const Shape& shape) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return Prepared{};
  RunningSum s = {};
  COOPER_ASSIGN_OR_RETURN(s.view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  s.ChooseChunks();
  if (s.chunks == 1) return Prepared{};
  // The largest compute type has 8 bytes.
  return Prepared{.workspace_bytes = s.view.lines() * s.chunks * 8};
}

absl::Status CumsumGpu(const KernelContext& c) { return RunCumsum(c, c.inputs[0].shape, false); }

absl::StatusOr<Prepared> PrepareCumsum(const PrepareContext& c) {
  return PrepareOver(c, c.inputs[0].shape);
}

absl::Status CumsumBackwardGpu(const KernelContext& c) {
  return RunCumsum(c, c.outputs[0].shape, true);
}

absl::StatusOr<Prepared> PrepareCumsumBackward(const PrepareContext& c) {
  return PrepareOver(c, c.outputs[0].shape);
}

COOPER_REGISTER_KERNEL(_np_cumsum, DeviceType::kGpu, kAnyDType, CumsumGpu, PrepareCumsum);
COOPER_REGISTER_KERNEL(_backward_np_cumsum, DeviceType::kGpu, kAnyDType, CumsumBackwardGpu,
                       PrepareCumsumBackward);

}  // namespace
}  // namespace cooper
