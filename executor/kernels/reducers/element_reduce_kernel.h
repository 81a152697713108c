#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_KERNEL_H_

// Defines the kernels that ElementReduceOf returns, for the .cu files that instantiate them.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/reducers.h"

namespace cooper {

// The threads of a block of ReduceElements, a power of 2; ReducePartials has blocks of one warp.
inline constexpr int kReduceThreads = 256;  // of a block

// Applies the end of the reduction to `value` and stores it as element i of the output. One thread
// calls it for each element. `value` is the complete reduction in the compute type C; the root is
// computed in double.
template <typename C>
__device__ void FinishElement(const ReduceArguments& a, int64_t i, C value) {
  if (a.end.divisor != 1) value = ReducedQuotient(value, static_cast<C>(a.end.divisor));
  if (a.end.square_root) value = static_cast<C>(std::sqrt(static_cast<double>(value)));
  StoreComputed(a.out, a.out_dtype, i, value, a.add);
}

// Combines `value` with the function's values of the elements that were loaded together. The
// overload for quads combines their four elements in ascending order.
template <typename R, typename F, typename C>
__device__ C CombineLoaded(C value, const ElementsOf<F, C>& x) {
  return R::Combine(value, x.Apply());
}
template <typename R, typename F, typename C>
__device__ C CombineLoaded(C value, const ElementQuads<F, C>& x) {
#pragma unroll
  for (int q = 0; q < 4; ++q) value = CombineLoaded<R>(value, x.of[q]);
  return value;
}

// Reduces the function's values at a walk's iterations begin, begin + lanes, ... below end.
// load(offsets) loads the operands. Issues several loads at once, which keeps the GPU's memory
// busy. `base` holds the offset of each operand at the walk's begin, F::kArity numbers. Returns the
// reducer's initial value if the lane has no iteration. Loads four iterations ahead if an
// iteration's operands take at most 8 bytes, else two; iterations are combined in ascending order.
template <typename R, typename F, typename C, typename Load>
__device__ C ReduceLane(const ElementWalk& walk, int lanes, const int64_t* base, int64_t begin,
                        int64_t end, Load&& load) {
  using Loaded = decltype(load(base));
  constexpr int kLoads = sizeof(Loaded) <= 8 ? 4 : 2;
  C value = R::template Initial<C>();
  for (int64_t first = begin; first < end; first += int64_t{kLoads} * lanes) {
    Loaded x[kLoads];
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      const int64_t j = first + int64_t{l} * lanes;
      if (j >= end) continue;
      int64_t at[F::kArity];
#pragma unroll
      for (int k = 0; k < F::kArity; ++k) at[k] = base[k];
      walk.At<F::kArity>(j, at);
      x[l] = load(at);
    }
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      if (first + int64_t{l} * lanes < end) value = CombineLoaded<R>(value, x[l]);
    }
  }
  return value;
}

// Returns the reduction over the lanes of an element to its lane 0. All threads of the block must
// call it. `lane` and `slot` are the thread's lane and the number of its element in the block. The
// result is undefined in the other lanes. Up to 32 adjacent lanes use shuffles and no barrier.
// Elements beyond the output must pass the reducer's initial value.
template <typename R, typename C>
__device__ C ReduceLanes(const ReduceArguments& a, int lane, int slot, C value) {
  if (a.adjacent && a.lanes <= 32) {
    for (int width = a.lanes / 2; width > 0; width /= 2) {
      value = R::Combine(value, __shfl_down_sync(0xffffffffu, value, width));
    }
    return value;
  }
  // Combines lane l with lane l + width, and halves width until one lane is left.
  __shared__ C shared[kReduceThreads];
  const int sets = kReduceThreads / a.lanes;
  C* const own = shared + lane * sets + slot;
  __syncthreads();  // until all threads have read the previous values
  *own = value;
  __syncthreads();
  for (int width = a.lanes / 2; width > 0; width /= 2) {
    if (lane < width) *own = R::Combine(*own, own[width * sets]);
    __syncthreads();
  }
  return *own;
}

// Reduces a lane's elements with the fastest loads that the operands allow. Prefers aligned loads
// of four floats (`in_quads`), then plain loads of floats, then loads that convert from any dtype.
// Integer compute types always use the last. The range [begin, end) counts quads if `in_quads`,
// else elements.
template <typename R, typename F, typename C>
__device__ C ReduceLaneOf(const ReduceArguments& a, const int64_t* base, int64_t begin, int64_t end,
                          bool in_quads) {
  const auto reduce = [&](const ElementWalk& walk, const auto& load) {
    return ReduceLane<R, F, C>(walk, a.lanes, base, begin, end, load);
  };
  if constexpr (std::is_floating_point_v<C>) {
    if (in_quads) {
      return reduce(a.quads,
                    [&a](const int64_t* at) { return a.operands.LoadQuadsAt<F, C>(a.quads, at); });
    }
    if (a.plain) {
      return reduce(a.reduced,
                    [&a](const int64_t* at) { return a.operands.LoadFloatsAt<F, C>(at); });
    }
  }
  return reduce(a.reduced, [&a](const int64_t* at) { return a.operands.LoadAt<F, C>(at); });
}

// Reduces each element of the output, or a part of it if there are several. R is a struct of
// reducers.h, F an elementwise function with kArity operands, C the compute type. blockIdx.y is the
// part, and blocks stride over the output along x. With several parts, writes to `partial` what
// ReducePartials combines.
template <typename R, typename F, typename C>
__global__ void ReduceElements(const ReduceArguments a) {
  const int t = static_cast<int>(threadIdx.x);
  const int sets =
      kReduceThreads / a.lanes;  // elements of the output that a block processes at once
  const int lane = a.adjacent ? t % a.lanes : t / sets;
  const int slot = a.adjacent ? t / a.lanes : t % sets;
  const int64_t part = blockIdx.y;
  const bool in_quads = std::is_floating_point_v<C> && a.quads.count > 0;
  const int64_t count = in_quads ? a.quads.count : a.reduced.count;
  const int64_t begin = count * part / a.parts;
  const int64_t end = count * (part + 1) / a.parts;
  const int64_t step = static_cast<int64_t>(gridDim.x) * sets;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * sets; first < a.kept.count;
       first += step) {
    const int64_t i = first + slot;
    C value = R::template Initial<C>();
    if (i < a.kept.count) {
      int64_t base[F::kArity] = {};
      a.kept.At<F::kArity>(i, base);
      value = ReduceLaneOf<R, F, C>(a, base, begin + lane, end, in_quads);
    }
    value = ReduceLanes<R>(a, lane, slot, value);
    if (lane != 0 || i >= a.kept.count) continue;
    if (a.parts > 1) {
      static_cast<C*>(a.partial)[part * a.kept.count + i] = value;
    } else {
      FinishElement(a, i, value);
    }
  }
}

// Reduces the parts of each element in one warp. Blocks have 32 threads. Runs after ReduceElements
// on the same stream. Combines the parts in an order that depends on their number alone.
template <typename R, typename C>
__global__ void ReducePartials(const ReduceArguments a) {
  const C* partial = static_cast<const C*>(a.partial);
  const int lane = static_cast<int>(threadIdx.x);
  for (int64_t i = blockIdx.x; i < a.kept.count; i += gridDim.x) {
    C value = R::template Initial<C>();
    for (int64_t part = lane; part < a.parts; part += 32) {
      value = R::Combine(value, partial[part * a.kept.count + i]);
    }
    for (int width = 16; width > 0; width /= 2) {
      value = R::Combine(value, __shfl_down_sync(0xffffffffu, value, width));
    }
    if (lane == 0) FinishElement(a, i, value);
  }
}

// Defines what element_reduce.h declares. The kernels for int64_t exist only if F::kExactIntegers.
template <Reducer kReducer, typename F>
const ElementReduce& ElementReduceOf() {
  using R = ReducerFunctions<kReducer>;
  static const ElementReduce reduce = [] {
    ElementReduce made{F::kArity,
                       F::kExactIntegers,
                       {ReduceElements<R, F, float>, ReducePartials<R, float>},
                       {ReduceElements<R, F, double>, ReducePartials<R, double>},
                       {nullptr, nullptr},
                       ElementMapOf<F>};
    if constexpr (F::kExactIntegers) {
      made.i64 = {ReduceElements<R, F, int64_t>, ReducePartials<R, int64_t>};
    }
    return made;
  }();
  return reduce;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_KERNEL_H_
