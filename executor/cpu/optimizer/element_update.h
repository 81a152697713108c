#ifndef COOPER_EXECUTOR_CPU_OPTIMIZER_ELEMENT_UPDATE_H_
#define COOPER_EXECUTOR_CPU_OPTIMIZER_ELEMENT_UPDATE_H_

// The loops of updates: one pass over weight, gradient and states, written so that the compiler
// vectorises it. What happens to one element is said in executor/elements.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "executor/elements/update_function.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/element_ranges.h"
#include "ndarray/parallel.h"

namespace cooper {

// Below this many elements a thread costs more than it saves.
inline constexpr int64_t kUpdateGrain = 16384;

// fn(begin, end) for ranges of elements, on several threads if there are many. What is computed for
// an element does not depend on the number of threads.
template <typename Fn>
void UpdateRanges(int64_t elements, const Fn& fn) {
  ParallelFor(NumRangeUnits(elements), kUpdateGrain / kRangeUnit, [&](int64_t begin, int64_t end) {
    fn(begin * kRangeUnit, std::min(elements, end * kRangeUnit));
  });
}

// Calls fn(w, g, s...) for each of n elements. W and its states hold what is trained, G is the
// dtype of the gradient; `half` is null or takes the new weight in G.
template <bool kHalf, typename W, typename G, typename Fn, typename... S>
void UpdateRange(int64_t n, const Fn& fn, W* __restrict weight, const G* __restrict grad,
                 [[maybe_unused]] G* __restrict half, S* __restrict... state) {
  using C = ComputeType<W>;
  for (int64_t i = 0; i < n; ++i) {
    C w = static_cast<C>(weight[i]);
    const C g = static_cast<C>(static_cast<ComputeType<G>>(grad[i]));
    const auto with_states = [&](auto... s) {
      fn(w, g, s...);
      ((state[i] = static_cast<W>(s)), ...);
    };
    with_states(static_cast<C>(state[i])...);
    weight[i] = static_cast<W>(w);
    if constexpr (kHalf) half[i] = static_cast<G>(w);
  }
}

namespace internal_update {

inline constexpr int64_t kBlock = 1024;

// Elements [begin, end). Where the weight itself must stay as it is, or is not asked for, the new
// one is made in a block on the stack.
template <bool kMaster, typename W, typename G, typename Fn, typename... S>
void UpdatePart(const UpdateArrays& a, int64_t begin, int64_t end, const Fn& fn, S*... state) {
  using Out = std::conditional_t<kMaster, G, W>;
  auto* const weight = a.weight.as<W>();
  const auto* const grad = a.grad.as<const G>();
  auto* const output = a.output.as<Out>();
  const bool direct = a.req == WriteReq::kWrite;
  Out made[kBlock];
  while (begin < end) {
    const int64_t n = direct ? end - begin : std::min(kBlock, end - begin);
    Out* const out = direct ? output + begin : made;
    if constexpr (kMaster) {
      UpdateRange<true>(n, fn, weight + begin, grad + begin, out, (state + begin)...);
    } else {
      if (out != weight + begin) {
        std::memcpy(static_cast<void*>(out), weight + begin, static_cast<size_t>(n) * sizeof(W));
      }
      UpdateRange<false>(n, fn, out, grad + begin, static_cast<G*>(nullptr), (state + begin)...);
    }
    if (a.req == WriteReq::kAdd) {
      using C = ComputeType<Out>;
      for (int64_t i = 0; i < n; ++i) {
        output[begin + i] =
            static_cast<Out>(static_cast<C>(output[begin + i]) + static_cast<C>(made[i]));
      }
    }
    begin += n;
  }
}

}  // namespace internal_update

// Updates with make(TypeTag<C>()) as the function of UpdateRange.
template <int kStates, bool kMaster, typename Make>
absl::Status UpdateElements(const KernelContext& c, const UpdateArrays& a, const Make& make) {
  const bool known =
      DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        const auto fn = make(TypeTag<ComputeType<W>>());
        [&]<size_t... I>(std::index_sequence<I...>) {
          UpdateRanges(a.grad.size(), [&](int64_t begin, int64_t end) {
            internal_update::UpdatePart<kMaster, W, G>(a, begin, end, fn,
                                                       a.states[I].template as<W>()...);
          });
        }
        (std::make_index_sequence<kStates>());
      });
  return known ? absl::OkStatus() : NoUpdateFor(c, a.weight.dtype, a.grad.dtype);
}

// The kernel of an update, and of its relative.
template <typename U, bool kMaster>
absl::Status UpdateCpu(const KernelContext& c) {
  const auto& p = c.param<typename U::Param>();
  return UpdateElements<U::kStates, kMaster>(
      c, ArraysOfUpdate<U::kStates, kMaster>(c.inputs, c.outputs[0], c.reqs[0]),
      [&](auto tag) { return U::template Make<typename decltype(tag)::type>(p); });
}

#define COOPER_REGISTER_UPDATE(op, master_op, U)                                      \
  COOPER_REGISTER_KERNEL(op, DeviceType::kCpu, kUpdateDTypes, (UpdateCpu<U, false>)); \
  COOPER_REGISTER_KERNEL(master_op, DeviceType::kCpu, kUpdateDTypes, (UpdateCpu<U, true>))

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_OPTIMIZER_ELEMENT_UPDATE_H_
