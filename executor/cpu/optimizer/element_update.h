#ifndef COOPER_EXECUTOR_CPU_OPTIMIZER_ELEMENT_UPDATE_H_
#define COOPER_EXECUTOR_CPU_OPTIMIZER_ELEMENT_UPDATE_H_

// The loops of updates: one pass over weight, gradient and states, written so that the compiler
// vectorises it.
//
// An update is a struct that says what happens to one element:
//
//   struct SgdMomUpdate {
//     using Param = SgdMomParam;
//     static constexpr int kStates = 1;
//     // fn(w, g, states...), which changes w and the states; C is the type of the arithmetic.
//     template <typename C>
//     static auto Make(const Param& p) {
//       return [lr = As<C>(p.lr), ...](C& w, C g, C& m) { ... };
//     }
//   };

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/element_ranges.h"
#include "ndarray/parallel.h"
#include "symbol/ops/optimizer/update_param.h"

namespace cooper {

// Of weights.
inline constexpr DTypeSet kUpdateDTypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                           DType::kBfloat16};

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

// A number in the type of the arithmetic.
template <typename C>
C As(double value) {
  return static_cast<C>(value);
}

// For a limit as the parameters have it, where negative means that there is none.
template <typename C>
C LimitAs(double limit) {
  return As<C>(limit < 0 ? std::numeric_limits<double>::infinity() : limit);
}

template <typename C>
C Clip(C value, C limit) {
  return std::min(std::max(value, -limit), limit);  // keeps NaN
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

// The dtypes of an update: of what is trained, and of the gradient. With a float32 copy of the
// weight the gradient has a 16-bit float's. run(TypeTag<W>, TypeTag<G>); false if there is no code.
template <bool kMaster, typename Run>
bool DispatchUpdate(DType weight, DType grad, const Run& run) {
  if constexpr (kMaster) {
    if (weight != DType::kFloat32) return false;
    if (grad == DType::kFloat16) return run(TypeTag<float>(), TypeTag<Float16>()), true;
    if (grad == DType::kBfloat16) return run(TypeTag<float>(), TypeTag<BFloat16>()), true;
  } else {
    if (weight != grad) return false;
    if (weight == DType::kFloat32) return run(TypeTag<float>(), TypeTag<float>()), true;
    if (weight == DType::kFloat64) return run(TypeTag<double>(), TypeTag<double>()), true;
    if (weight == DType::kFloat16) return run(TypeTag<Float16>(), TypeTag<Float16>()), true;
    if (weight == DType::kBfloat16) return run(TypeTag<BFloat16>(), TypeTag<BFloat16>()), true;
  }
  return false;
}

inline absl::Status NoUpdateFor(const KernelContext& c, DType weight, DType grad) {
  return absl::UnimplementedError(absl::StrCat(c.call.op->name(), " on cpu: no kernel for ",
                                               DTypeName(weight), " weights with ", DTypeName(grad),
                                               " gradients"));
}

// The arrays of one weight's update.
struct UpdateArrays {
  ArrayView weight;  // what is trained: of a master, the float32 copy
  ArrayView grad;
  absl::Span<const ArrayView> states;
  ArrayView output;  // may be the weight
  WriteReq req = WriteReq::kWrite;
};

// Inputs as update_op.h has them, from the weight on.
template <int kStates, bool kMaster>
UpdateArrays ArraysOfUpdate(absl::Span<const ArrayView> inputs, const ArrayView& output,
                            WriteReq req) {
  using enum UpdateInputs::Input;
  return {.weight = inputs[kMaster ? kFirstState + kStates : kWeight],
          .grad = inputs[kGrad],
          .states = inputs.subspan(kFirstState, kStates),
          .output = output,
          .req = req};
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
