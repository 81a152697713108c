#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_SET_VALUES_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_SET_VALUES_H_

// Values of sets (set_reduce.h) that a kernel visits several times: they stay in registers if they
// are few enough. For .cu files.
//
//   template <int kHeld>
//   __global__ void __launch_bounds__(kThreadsHolding<float, kHeld>, kBlocksHolding<float, kHeld>)
//       Normalize(SetPlan plan, const float* x, float* y) {
//     const SetThread thread(plan);
//     thread.ForEachSet([&](int64_t set) {
//       const auto values = ValuesOf<kHeld>(thread, set, [&](int64_t i) { return x[i]; });
//       const float sum = values.template Sum<float>([](int64_t, float v) { return v; });
//       values.ForEach([&](int64_t i, int64_t, float v) { y[i] = v / sum; });
//     });
//   }
//   return DispatchHeld<float, kManyHeld>(plan, [&](auto held) {
//     return LaunchSets(c, plan, Normalize<decltype(held)::value>, x, y);
//   });

#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/reducers/set_reduce.h"

namespace cooper {

// The values load(element) of one lane's elements of a set. They are kept in registers, or, if
// kHeld is 0, loaded in each pass. The values are loaded in the constructor if they are kept.
// Registers need constant indices: all loops over them are unrolled to kHeld.
template <int kHeld, typename Load>
class SetValues {
  using Value = decltype(std::declval<Load>()(int64_t{0}));

 public:
  __device__ SetValues(const SetThread& thread, int64_t set, Load load)
      : thread_(thread), set_(set), load_(load) {
    if constexpr (kHeld > 0) {
      thread.ForEachHeld<kHeld>(set, [&](int64_t i, int64_t, int k) { held_[k] = load(i); });
    }
  }

  // Calls use(element, position, value) for each value.
  template <typename Use>
  __device__ void ForEach(Use&& use) const {
    if constexpr (kHeld > 0) {
      thread_.ForEachHeld<kHeld>(set_, [&](int64_t i, int64_t j, int k) { use(i, j, held_[k]); });
    } else if constexpr (alignof(Value) > sizeof(float)) {
      thread_.ForEach(set_, [&](int64_t i, int64_t j) { use(i, j, load_(i)); });
    } else {
      thread_.ForEachLoaded(set_, load_, use);
    }
  }

  // Returns the sum of term(position, value). All threads of the block must call it.
  template <typename C, typename Term>
  __device__ C Sum(Term&& term) const {
    C sum = 0;
    ForEach([&](int64_t, int64_t j, const auto& value) { sum += term(j, value); });
    return thread_.Sum(sum);
  }

  // Replaces each value by term(position, value). Requires kHeld > 0.
  template <typename Term>
  __device__ void Replace(Term&& term) {
    static_assert(kHeld > 0);
    thread_.ForEachHeld<kHeld>(set_,
                               [&](int64_t, int64_t j, int k) { held_[k] = term(j, held_[k]); });
  }

  // Replaces each value by term(position, value) and returns the sum of the new values. All threads
  // of the block must call it. Requires kHeld > 0.
  template <typename C, typename Term>
  __device__ C ReplaceAndSum(Term&& term) {
    static_assert(kHeld > 0);
    C sum = 0;
    thread_.ForEachHeld<kHeld>(set_, [&](int64_t, int64_t j, int k) {
      held_[k] = term(j, held_[k]);
      sum += held_[k];
    });
    return thread_.Sum(sum);
  }

 private:
  const SetThread& thread_;
  const int64_t set_;
  Load load_;
  // The lane's values, in the order of ForEachHeld; indices are constants after unrolling, so
  // registers hold them.
  Value held_[kHeld > 0 ? kHeld : 1];
};

// The number of values that a lane holds in this build of a kernel for kHeld. The number is 0, so
// that values are loaded in each pass, where a thread has too few registers for kMaxHeld values.
template <int kHeld>
inline constexpr int kHeldHere = kNeedsMoreRegisters&& kHeld == kMaxHeld ? 0 : kHeld;

// Returns the values of this lane's elements of the set. `thread` must outlive them. `load` is a
// device function of an element's index. It is called once for each element if values are kept,
// else in each pass; then it must return the same value each time.
template <int kHeld, typename Load>
__device__ SetValues<kHeldHere<kHeld>, Load> ValuesOf(const SetThread& thread, int64_t set,
                                                      Load load) {
  return SetValues<kHeldHere<kHeld>, Load>(thread, set, load);
}

// Returns fn(Held{}), a status. Held::value is the number of values, at most kMax, that each lane
// holds in a kernel that computes in C; 0 if a set of the plan has more. kMax is kManyHeld or
// kMaxHeld and equals the `most_held` that PlanSets got. Picks the least of kFewHeld, kManyHeld and
// kMaxHeld that holds a lane's share. Types wider than float and plans of channels always get 0.
template <typename C, int kMax, typename Fn>
absl::Status DispatchHeld(const SetPlan& plan, Fn&& fn) {
  if constexpr (sizeof(C) <= sizeof(float)) {
    const auto holds = [&plan]<int kHeld>(std::integral_constant<int, kHeld>) {
      return !plan.channels && plan.threads <= kThreadsHolding<C, kHeld> &&
             plan.n <= int64_t{kHeld} * plan.lanes;
    };
    constexpr std::integral_constant<int, kFewHeld> few;
    constexpr std::integral_constant<int, kManyHeld> many;
    if (holds(few)) return fn(few);
    if (holds(many)) return fn(many);
    if constexpr (kMax == kMaxHeld) {
      constexpr std::integral_constant<int, kMaxHeld> most;
      if (holds(most)) return fn(most);
    }
  }
  return fn(std::integral_constant<int, 0>());
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_SET_VALUES_H_
