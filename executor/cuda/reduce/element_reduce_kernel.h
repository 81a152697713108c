#ifndef COOPER_EXECUTOR_CUDA_REDUCE_ELEMENT_REDUCE_KERNEL_H_
#define COOPER_EXECUTOR_CUDA_REDUCE_ELEMENT_REDUCE_KERNEL_H_

// The kernels that ElementReduceOf hands out, for the .cu files that compile them.

#include <cmath>
#include <cstdint>

#include "executor/cuda/launch.h"
#include "executor/cuda/reduce/element_reduce.h"
#include "executor/elements/reducers.h"

namespace cooper {

inline constexpr int kReduceThreads = 256;  // of a block

template <Reducer>
struct ReducerFunctions : SumReducer {};
template <>
struct ReducerFunctions<Reducer::kProduct> : ProductReducer {};
template <>
struct ReducerFunctions<Reducer::kMax> : MaxReducer {};
template <>
struct ReducerFunctions<Reducer::kMin> : MinReducer {};

template <typename C>
__device__ void FinishElement(const ReduceArguments& a, int64_t i, C value) {
  if (a.end.divisor != 1) value = ReducedQuotient(value, static_cast<C>(a.end.divisor));
  if (a.end.square_root) value = static_cast<C>(std::sqrt(static_cast<double>(value)));
  StoreComputed(a.out, a.out_dtype, i, value, a.add);
}

template <typename R, typename F, typename C>
__global__ void ReduceElements(const ReduceArguments a) {
  __shared__ C shared[kReduceThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int sets = kReduceThreads / a.lanes;  // elements of the output that a block has at once
  const int lane = a.adjacent ? t % a.lanes : t / sets;
  const int slot = a.adjacent ? t / a.lanes : t % sets;
  const int64_t part = blockIdx.y;
  const int64_t begin = a.reduced.count * part / a.parts;
  const int64_t end = a.reduced.count * (part + 1) / a.parts;
  const int64_t step = static_cast<int64_t>(gridDim.x) * sets;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * sets; first < a.kept.count;
       first += step) {
    const int64_t i = first + slot;
    C value = R::template Initial<C>();
    if (i < a.kept.count) {
      int64_t base[F::kArity] = {};
      a.kept.At<F::kArity>(i, base);
      for (int64_t j = begin + lane; j < end; j += a.lanes) {
        int64_t at[F::kArity];
#pragma unroll
        for (int k = 0; k < F::kArity; ++k) at[k] = base[k];
        a.reduced.At<F::kArity>(j, at);
        value = R::Combine(value, a.operands.Apply<F, C>(at));
      }
    }
    if (a.lanes > 1) {
      // By halves: lane l and lane l + width, until one is left.
      C* const own = shared + lane * sets + slot;
      *own = value;
      __syncthreads();
      for (int width = a.lanes / 2; width > 0; width /= 2) {
        if (lane < width) *own = R::Combine(*own, own[width * sets]);
        __syncthreads();
      }
      value = *own;
    }
    if (lane != 0 || i >= a.kept.count) continue;
    if (a.parts > 1) {
      static_cast<C*>(a.partial)[part * a.kept.count + i] = value;
    } else {
      FinishElement(a, i, value);
    }
  }
}

template <typename R, typename C>
__global__ void ReducePartials(const ReduceArguments a) {
  const C* partial = static_cast<const C*>(a.partial);
  for (int64_t i = FirstElement(); i < a.kept.count; i += ElementStep()) {
    C value = partial[i];
    for (int64_t part = 1; part < a.parts; ++part) {
      value = R::Combine(value, partial[part * a.kept.count + i]);
    }
    FinishElement(a, i, value);
  }
}

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

#endif  // COOPER_EXECUTOR_CUDA_REDUCE_ELEMENT_REDUCE_KERNEL_H_
