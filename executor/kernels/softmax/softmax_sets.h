#ifndef COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_SETS_H_
#define COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_SETS_H_

// Computes softmax and its variants over the sets of a plan
// (executor/kernels/reducers/set_reduce.h), for operators that contain a softmax. For .cu files.
//
// softmax.cu, softmax_output.cu and ctc_loss.cu call LaunchSoftmax. softmax_row.h is the
// counterpart for the CPU.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/reducers/set_values.h"
#include "executor/program/kernel.h"

namespace cooper {

// The variants of softmax: kSoftmin is the softmax of the negated input, kLogSoftmax the logarithm
// of the softmax.
enum class SoftmaxForm : uint8_t { kSoftmax, kSoftmin, kLogSoftmax };

// An array of any dtype, on the device. Not owned. Elements convert to the compute type C when they
// are loaded and back when they are stored.
struct TypedArray {
  // Device memory; null where an optional array is missing.
  void* data;
  DType dtype;

  // Returns element i, converted to C.
  template <typename C>
  __device__ C Load(int64_t i) const {
    return LoadElement<C>(data, dtype, i);
  }
  // Writes or adds `value`, converted from C.
  template <typename C>
  __device__ void Store(int64_t i, C value, bool add) const {
    StoreElement<C>(data, dtype, i, value, add);
  }
};

// A float32 array, the common case, without a switch on the dtype for each element. It has the same
// functions as TypedArray.
struct FloatArray {
  float* data;

  template <typename C>
  __device__ C Load(int64_t i) const {
    return data[i];
  }
  template <typename C>
  __device__ void Store(int64_t i, C value, bool add) const {
    StoreTo(data + i, value, add);
  }
};

// Returns the array of a view. The dtype may be any.
inline TypedArray Typed(const ArrayView& view) { return {view.data, view.dtype}; }

// Returns the number of elements of a set that count; n without an array of lengths. Lengths are
// converted to integers and clamped to [0, n]. Set -1 has length n.
__device__ inline int64_t SetLength(const TypedArray& lengths, int64_t set, int64_t n) {
  if (lengths.data == nullptr || set < 0) return n;
  const int64_t length = lengths.Load<int64_t>(set);
  return length < 0 ? 0 : length > n ? n : length;
}

// Computes the softmax of each set, with x = (in - max) / temperature and `in` negated for
// kSoftmin:
//
//   kSoftmax, kSoftmin: out = or += exp(x) / sum exp(x)
//   kLogSoftmax: out = or += x - log(sum exp(x))
//
// Elements beyond the set's length do not count and give 0. `out` may be `in`.
template <SoftmaxForm form, int kHeld, typename C, typename Array>
__global__ void __launch_bounds__(kThreadsHolding<C, kHeld>, kBlocksHolding<C, kHeld>)
    SoftmaxSets(SetPlan plan, Array in, TypedArray lengths, C temperature, Array out, bool add) {
  constexpr bool kLog = form == SoftmaxForm::kLogSoftmax;
  const SetThread thread(plan);
  const C sign = form == SoftmaxForm::kSoftmin ? C{-1} : C{1};
  thread.ForEachSet([&](int64_t set) {
    const int64_t length = SetLength(lengths, set, plan.n);
    auto values =
        ValuesOf<kHeld>(thread, set, [&](int64_t i) { return sign * in.template Load<C>(i); });
    C top = -HUGE_VAL;
    values.ForEach([&](int64_t, int64_t j, C x) {
      if (j < length && !(x <= top)) top = x;
    });
    top = thread.Max(top);
    // The division is the slowest operation here, apart from the exponential.
    const auto scaled = [top, temperature](C x) {
      return temperature == C{1} ? x - top : (x - top) / temperature;
    };
    const auto exponential = [&](int64_t j, C x) { return j < length ? exp(scaled(x)) : C{0}; };
    if constexpr (kHeldHere < kHeld >> 0 && !kLog) {
      const C scale = C{1} / values.template ReplaceAndSum<C>(exponential);
      // Writes 0 beyond the length, whatever the scale is: it is infinite for length 0.
      values.ForEach(
          [&](int64_t i, int64_t j, C e) { out.Store(i, j < length ? e * scale : C{0}, add); });
    } else {
      const C sum = values.template Sum<C>(exponential);
      const C scale = kLog ? log(sum) : C{1} / sum;
      values.ForEach([&](int64_t i, int64_t j, C x) {
        C y = 0;
        if (j < length) y = kLog ? scaled(x) - scale : exp(scaled(x)) * scale;
        out.Store(i, y, add);
      });
    }
  });
}

// Launches SoftmaxSets. `plan` allows up to MaxThreadsFor(dtypes of in and out) threads and holds
// up to kMaxHeld values. Computes in double if either dtype is float64, else in float. `lengths`
// has one element for each set, or null data. Does not wait.
//
// Errors: those of Launch.
template <SoftmaxForm form>
absl::Status LaunchSoftmax(const KernelContext& c, const SetPlan& plan, const ArrayView& in,
                           const TypedArray& lengths, double temperature, const ArrayView& out,
                           bool add) {
  if (in.dtype == DType::kFloat64 || out.dtype == DType::kFloat64) {
    return LaunchSets(c, plan, SoftmaxSets<form, 0, double, TypedArray>, Typed(in), lengths,
                      temperature, Typed(out), add);
  }
  return DispatchHeld<float, kMaxHeld>(plan, [&](auto held) {
    constexpr int kHeld = decltype(held)::value;
    const auto t = static_cast<float>(temperature);
    if (in.dtype == DType::kFloat32 && out.dtype == DType::kFloat32) {
      return LaunchSets(c, plan, SoftmaxSets<form, kHeld, float, FloatArray>,
                        FloatArray{in.as<float>()}, lengths, t, FloatArray{out.as<float>()}, add);
    }
    return LaunchSets(c, plan, SoftmaxSets<form, kHeld, float, TypedArray>, Typed(in), lengths, t,
                      Typed(out), add);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_SETS_H_
