#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_SET_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_SET_REDUCE_H_

// Reduces many sets of elements at once, for kernels such as softmax and norms that reduce a set
// and then visit it again. For .cu files.
//
// An array is viewed as (outer, n, inner): each of the outer * inner sets has n elements, `inner`
// apart. Alternatively it is viewed as (outer, channels, inner), where a set is a channel. Some
// lanes of a block share a set; their number depends on its size, and a block has several sets if
// they are small. Neighbouring threads read neighbouring elements in both views. Sums use no
// atomics and an order that depends on the shape alone: equal inputs give equal bits.
//
//   softmax over axis 1 of (2, 3, 4): PlanSets(2, 3, 4), 8 sets of 3 elements
//   layer norm of the rows of (5, 7): PlanSets(5, 7, 1), 5 sets of 7 elements
//   bias gradient of (2, 3, 4): PlanChannels(2, 3, 4), 3 sets of 8 elements
//
// A kernel takes the plan as its first argument, makes a SetThread and calls ForEachSet; LaunchSets
// chooses the grid. set_values.h keeps the values of a set in registers.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

inline constexpr int kSetThreads = 256;  // of a block
// The most threads of a block, for long sets. Such a kernel needs __launch_bounds__.
inline constexpr int kMaxSetThreads = 1024;

// The numbers of values that a lane keeps in registers, if they hold its whole share of a set
// (DispatchHeld in set_values.h). kMaxHeld is for float only.
inline constexpr int kFewHeld = 4, kManyHeld = 16, kMaxHeld = 32;

// For __launch_bounds__(kThreadsHolding<C, kHeld>, kBlocksHolding<C, kHeld>) of kernels that
// compute in C: the threads of a block, and the blocks that must fit in a multiprocessor's
// registers. A double takes two registers. kHeld of 0 stands for values that are loaded in each
// pass.
template <typename C, int kHeld>
inline constexpr int kThreadsHolding = sizeof(C) > sizeof(float) ? kSetThreads
                                       : kHeld == 0              ? kMaxSetThreads
                                       : kHeld == kMaxHeld       ? 2 * kSetThreads
                                                                 : kSetThreads;
template <typename C, int kHeld>
inline constexpr int kBlocksHolding = kHeld == 0            ? 1
                                      : kHeld == kFewHeld   ? 4
                                      : kNeedsMoreRegisters ? 1
                                                            : 2;
// Returns the most threads of a set for a kernel that computes in double if either dtype is
// float64, else in float. A kernel in double takes twice the registers, so its blocks have 256
// threads instead of 1024.
inline int MaxThreadsFor(DType a, DType b) {
  return a == DType::kFloat64 || b == DType::kFloat64 ? kThreadsHolding<double, 0>
                                                      : kThreadsHolding<float, 0>;
}

// A view of an array, and the distribution of its sets over a block's threads.
struct SetPlan {
  // The extents of the view; the array is contiguous and has outer * n * inner elements.
  int64_t outer, n, inner;
  bool channels;  // the sets are along n, with outer * inner elements each
  int lanes;      // threads of a set: a power of 2
  bool adjacent;  // whether a set's lanes are neighbours, or lane i of all sets of the block
  int threads = kSetThreads;  // of a block

  // Returns the number of sets.
  __host__ __device__ int64_t count() const { return channels ? n : outer * inner; }
  // Returns the number of elements of each set.
  __host__ __device__ int64_t size() const { return channels ? outer * inner : n; }
};

// Returns the least power of 2 that is at least `work`, but at most `most`. `most` is a power of 2.
// Returns 1 for work of 0 or 1.
inline int LanesFor(int64_t work, int most) {
  int lanes = 1;
  while (lanes < most && lanes < work) lanes *= 2;
  return lanes;
}

// Plans sets of n elements, `inner` apart, with up to `most_threads` for each. `most_held` is kMax
// of the kernel's call of DispatchHeld. `most_threads` is a power of 2 from kSetThreads to
// kMaxSetThreads, and the kernel must be compiled with __launch_bounds__ of at least that. If inner
// is 1, a set's lanes are neighbours; else neighbouring lanes belong to neighbouring sets, so that
// loads coalesce in both cases. With the defaults, sets of 1000 contiguous elements get 64 lanes.
inline SetPlan PlanSets(int64_t outer, int64_t n, int64_t inner, int most_threads = kSetThreads,
                        int most_held = kManyHeld) {
  SetPlan p{.outer = outer, .n = n, .inner = inner, .channels = false, .adjacent = inner == 1};
  if (p.adjacent) {
    // Lanes of a warp, which need no barriers, get four elements or more. Then lanes are added
    // until registers hold the set, with as few threads as possible.
    p.lanes = LanesFor((n + kFewHeld - 1) / kFewHeld, 32);
    for (int most = kSetThreads; most <= most_threads && n > int64_t{p.lanes} * most_held;
         most *= 2) {
      p.lanes = std::max(p.lanes, LanesFor((n + most_held - 1) / most_held, most));
    }
    p.threads = std::max(kSetThreads, p.lanes);
  } else {
    // A warp reads 32 adjacent sets if there are as many.
    p.lanes = LanesFor((n + 3) / 4, kSetThreads / LanesFor(inner, 32));
  }
  return p;
}

// Plans sets that are channels, with outer * inner elements each and up to `most_threads` for each.
// The array is (outer, channels, inner), as (batch, channels, height * width). From `inner` of 8
// on, a channel's lanes are neighbours; large channels then have a whole block, of up to
// `most_threads` threads.
inline SetPlan PlanChannels(int64_t outer, int64_t channels, int64_t inner,
                            int most_threads = kSetThreads) {
  // An empty array has no elements to visit, but ChannelWalk divides by `inner`.
  if (inner == 0) outer = 0, inner = 1;
  SetPlan p{
      .outer = outer, .n = channels, .inner = inner, .channels = true, .adjacent = inner >= 8};
  // Eight adjacent floats are a memory sector.
  const int most = p.adjacent ? kSetThreads : kSetThreads / LanesFor(channels, 8);
  p.lanes = LanesFor((outer * inner + 3) / 4, most);
  if (p.adjacent) {
    // A channel has one block, and there may be fewer channels than multiprocessors.
    p.threads = std::max(kSetThreads, LanesFor((outer * inner + 15) / 16, most_threads));
    if (p.threads > kSetThreads) p.lanes = p.threads;
  }
  return p;
}

// Iterates over the elements of a channel from a lane's first one on, in steps of plan.lanes.
// Divides once, in the constructor; `plan.inner` is at least 1. `plan` must outlive it.
class ChannelWalk {
 public:
  __device__ ChannelWalk(const SetPlan& plan, int64_t channel, int lane)
      : p_(plan),
        channel_(channel),
        o_(lane / plan.inner),
        r_(lane % plan.inner),
        o_step_(plan.lanes / plan.inner),
        r_step_(plan.lanes % plan.inner) {}

  // Returns the next element. Needs no division. The caller counts the elements; Next does not
  // check for the channel's end.
  __device__ int64_t Next() {
    const int64_t element = (o_ * p_.n + channel_) * p_.inner + r_;
    o_ += o_step_;
    r_ += r_step_;
    if (r_ >= p_.inner) {
      r_ -= p_.inner;
      ++o_;
    }
    return element;
  }

 private:
  const SetPlan& p_;
  const int64_t channel_;
  int64_t o_, r_;  // outer and inner
  const int64_t o_step_, r_step_;
};

// The part of its sets that one thread processes. `plan` must outlive it. Each thread of the block
// makes one, from the kernel's own plan.
class SetThread {
 public:
  __device__ explicit SetThread(const SetPlan& plan) : p_(plan), sets_(plan.threads / plan.lanes) {
    const int t = static_cast<int>(threadIdx.x);
    lane_ = p_.adjacent ? t % p_.lanes : t / sets_;
    slot_ = p_.adjacent ? t / p_.lanes : t % sets_;
  }

  // Returns whether the thread is lane 0 of its set: the one that stores the set's results.
  __device__ bool IsFirst() const { return lane_ == 0; }

  // Calls fn(set) for this thread's sets. All threads of a block make the same number of calls, so
  // fn may reduce. Threads without a further set get -1, for which the loops below do nothing. The
  // kernel's grid may be smaller than the number of sets: blocks stride over them.
  template <typename Fn>
  __device__ void ForEachSet(Fn&& fn) const {
    const int64_t step = static_cast<int64_t>(gridDim.x) * sets_;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * sets_; first < p_.count();
         first += step) {
      const int64_t set = first + slot_;
      fn(set < p_.count() ? set : -1);
    }
  }

  // Calls fn(element, position in the set) for this lane's elements of the set. The position in a
  // channel is (outer, inner) as one number. It makes no calls for set -1. `position` counts from 0
  // to size() - 1; the lanes of a set interleave.
  template <typename Fn>
  __device__ void ForEach(int64_t set, Fn&& fn) const {
    if (set < 0) return;
    if (!p_.channels) {
      const int64_t begin = BeginOf(set);
      for (int64_t j = lane_; j < p_.n; j += p_.lanes) fn(begin + j * p_.inner, j);
      return;
    }
    ChannelWalk walk(p_, set, lane_);
    for (int64_t j = lane_; j < p_.outer * p_.inner; j += p_.lanes) fn(walk.Next(), j);
  }

  // Calls use(element, position, load(element)) for this lane's elements. Issues several loads at
  // once, without which the threads cannot keep the GPU's memory busy. `use` is called in ascending
  // order of positions. `load` is called before the previous `use`, so it must not read what `use`
  // writes.
  template <typename Load, typename Use>
  __device__ void ForEachLoaded(int64_t set, Load&& load, Use&& use) const {
    if (set < 0) return;
    if (p_.channels) {
      ChannelWalk walk(p_, set, lane_);
      LoadAhead(
          p_.outer * p_.inner, [&walk] { return walk.Next(); }, load, use);
    } else {
      int64_t at = BeginOf(set) + lane_ * p_.inner;
      const auto next = [&at, step = p_.lanes * p_.inner] {
        const int64_t element = at;
        at += step;
        return element;
      };
      LoadAhead(p_.n, next, load, use);
    }
  }

  // Calls fn(element, position, k) for this lane's elements of a set that is not a channel and has
  // at most kHeld elements for each lane. k counts from 0 and is a compile-time constant after
  // unrolling. k is the index of a register array; set_values.h wraps it.
  template <int kHeld, typename Fn>
  __device__ void ForEachHeld(int64_t set, Fn&& fn) const {
    if (set < 0) return;
    const int64_t begin = BeginOf(set);
    const int n = static_cast<int>(p_.n);
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int j = lane_ + k * p_.lanes;
      if (j < n) fn(begin + j * p_.inner, static_cast<int64_t>(j), k);
    }
  }

  // Reduces the values of the set's lanes with `op` and returns the result in each lane. All
  // threads of the block must call it. `op` is associative and commutative but for rounding. Set -1
  // takes part with its values, which are not used. All lanes of a set get the same bits. Costs
  // shuffles alone up to 32 adjacent lanes, else barriers and shared memory of kMaxSetThreads
  // elements.
  template <typename C, typename Op>
  __device__ C Reduce(C value, Op&& op) const {
    __shared__ C partial[kMaxSetThreads];
    const int t = static_cast<int>(threadIdx.x);
    if (p_.adjacent) {
      for (int step = (p_.lanes < 32 ? p_.lanes : 32) / 2; step > 0; step /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, step));
      }
      if (p_.lanes <= 32) return value;
      __syncthreads();  // until all threads have read the previous values
      if (t % 32 == 0) partial[t / 32] = value;
      __syncthreads();
      const int warps = p_.lanes / 32;
      value = partial[slot_ * warps];
      for (int i = 1; i < warps; ++i) value = op(value, partial[slot_ * warps + i]);
      return value;
    }
    __syncthreads();
    partial[t] = value;
    __syncthreads();
    for (int width = p_.lanes / 2; width > 0; width /= 2) {
      if (lane_ < width) partial[t] = op(partial[t], partial[t + width * sets_]);
      __syncthreads();
    }
    return partial[slot_];
  }

  // Returns the sum of the set's lanes in each lane. All threads of the block must call it.
  template <typename C>
  __device__ C Sum(C value) const {
    return Reduce(value, [](C a, C b) { return a + b; });
  }
  // Returns the maximum of the set's lanes in each lane. A NaN may be lost. All threads of the
  // block must call it.
  template <typename C>
  __device__ C Max(C value) const {
    return Reduce(value, [](C a, C b) { return b > a ? b : a; });
  }

  // Returns the sum of term(i) over [0, n), which the set's lanes share. All threads of the block
  // must call it. `term` is a function of an index and is not related to the elements of the plan.
  template <typename C, typename Term>
  __device__ C SumOf(int64_t n, Term&& term) const {
    C sum = 0;
    for (int64_t i = lane_; i < n; i += p_.lanes) sum += term(i);
    return Sum(sum);
  }

  // Returns the sum of term(position, load(element)) over the set, with ForEachLoaded. All threads
  // of the block must call it. `load` must not depend on the sums of other sets. Returns 0 for set
  // -1.
  template <typename C, typename Load, typename Term>
  __device__ C SumOverLoaded(int64_t set, Load&& load, Term&& term) const {
    C sum = 0;
    ForEachLoaded(set, load, [&](int64_t, int64_t j, const auto& value) { sum += term(j, value); });
    return Sum(sum);
  }

  // Returns the sum of term(element, position) over the set. All threads of the block must call it.
  // Returns 0 for set -1.
  template <typename C, typename Term>
  __device__ C SumOver(int64_t set, Term&& term) const {
    C sum = 0;
    if (p_.channels) {
      ForEach(set, [&](int64_t i, int64_t j) { sum += term(i, j); });
    } else if (set >= 0) {
      const int64_t begin = BeginOf(set);
      // Issues several loads at once.
#pragma unroll 4
      for (int64_t j = lane_; j < p_.n; j += p_.lanes) sum += term(begin + j * p_.inner, j);
    }
    return Sum(sum);
  }

 private:
  // Returns the first element of a set that is not a channel.
  __device__ int64_t BeginOf(int64_t set) const {
    return p_.inner == 1 ? set * p_.n : set / p_.inner * p_.n * p_.inner + set % p_.inner;
  }

  // Visits the positions from lane_ on; next() returns their elements in turn.
  template <typename Next, typename Load, typename Use>
  __device__ void LoadAhead(int64_t size, Next&& next, Load&& load, Use&& use) const {
    using Value = decltype(load(int64_t{0}));
    // The registers of 1024 threads hold this many loads on every GPU; doubles take too many.
    constexpr bool kOne = sizeof(Value) == alignof(Value);  // not a pair of values
    constexpr int kLoads = kNeedsMoreRegisters          ? 1
                           : alignof(Value) > 4         ? 1
                           : kOne && sizeof(Value) <= 4 ? 4
                                                        : 3;
    for (int64_t j = lane_; j < size;) {
      int64_t elements[kLoads];
      Value values[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        elements[k] = next();
        if (j + k * p_.lanes < size) values[k] = load(elements[k]);
      }
#pragma unroll
      for (int k = 0; k < kLoads; ++k, j += p_.lanes) {
        if (j < size) use(elements[k], j, values[k]);
      }
    }
  }

  const SetPlan& p_;
  // The sets of a block.
  const int sets_;
  // The thread's lane within its set, and the number of the set within the block.
  int lane_, slot_;
};

// Launches a kernel whose first parameter is the plan. Does nothing if there are no sets. The grid
// has at most 2^20 blocks. `arguments` are those after the plan. Errors: those of Launch.
template <typename... P, typename... A>
absl::Status LaunchSets(const KernelContext& c, const SetPlan& plan, void (*kernel)(SetPlan, P...),
                        A&&... arguments) {
  const int64_t sets = plan.threads / plan.lanes;
  const unsigned blocks = BlocksFor((plan.count() + sets - 1) / sets, 1 << 20);
  if (blocks == 0) return absl::OkStatus();
  return Launch(c, dim3(blocks), dim3(static_cast<unsigned>(plan.threads)), kernel, plan,
                std::forward<A>(arguments)...);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_SET_REDUCE_H_
