#ifndef COOPER_EXECUTOR_CUDA_NN_SOFTMAX_SETS_H_
#define COOPER_EXECUTOR_CUDA_NN_SOFTMAX_SETS_H_

// softmax and its relatives over the sets of a plan (executor/cuda/reduce/set_reduce.h), for
// operators that have one in them. For .cu files.

#include <cstdint>

#include "executor/cuda/elements.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/kernel.h"

namespace cooper {

enum class SoftmaxForm : uint8_t { kSoftmax, kSoftmin, kLogSoftmax };

struct TypedArray {
  void* data;
  DType dtype;

  template <typename C>
  __device__ C Load(int64_t i) const {
    return LoadElement<C>(data, dtype, i);
  }
  template <typename C>
  __device__ void Store(int64_t i, C value, bool add) const {
    StoreElement<C>(data, dtype, i, value, add);
  }
};

inline TypedArray Typed(const ArrayView& view) { return {view.data, view.dtype}; }

// Elements of a set that count; all without an array of lengths.
__device__ inline int64_t SetLength(const TypedArray& lengths, int64_t set, int64_t n) {
  if (lengths.data == nullptr || set < 0) return n;
  const int64_t length = lengths.Load<int64_t>(set);
  return length < 0 ? 0 : length > n ? n : length;
}

// out = exp(x) / sum or x - log(sum) with x = (in - max) / temperature, which is negated for
// softmin; 0 beyond the length. `out` may be `in`.
template <SoftmaxForm form, typename C>
__global__ void SoftmaxSets(SetPlan plan, TypedArray in, TypedArray lengths, C temperature,
                            TypedArray out, bool add) {
  const SetThread thread(plan);
  const C sign = form == SoftmaxForm::kSoftmin ? C{-1} : C{1};
  thread.ForEachSet([&](int64_t set) {
    const int64_t length = SetLength(lengths, set, plan.n);
    C top = -HUGE_VAL;
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const C x = sign * in.Load<C>(i);
      if (j < length && !(x <= top)) top = x;
    });
    top = thread.Max(top);
    const C sum = thread.SumOver<C>(set, [&](int64_t i, int64_t j) {
      return j < length ? exp((sign * in.Load<C>(i) - top) / temperature) : C{0};
    });
    const C log_sum = log(sum);
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      C y = 0;
      if (j < length) {
        const C x = (sign * in.Load<C>(i) - top) / temperature;
        y = form == SoftmaxForm::kLogSoftmax ? x - log_sum : exp(x) / sum;
      }
      out.Store(i, y, add);
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_NN_SOFTMAX_SETS_H_
