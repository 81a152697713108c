#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_ELEMENT_UPDATE_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_ELEMENT_UPDATE_H_

// Runs updates on the CPU: one pass over weight, gradient and states, in loops that the compiler
// vectorises. sgd_functions.h, adam_functions.h and others define the update of one element.
//
// Arithmetic is in double for float64 weights and in float for all others. 16-bit weights are
// converted in blocks and rounded once for each update, so a master copy in float32
// (kMaster) is what keeps small steps from being lost.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/optimizer/update_function.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/element_ranges.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// The least number of elements for each thread; with fewer, starting it costs more than it saves.
// It is a multiple of kRangeUnit.
inline constexpr int64_t kUpdateGrain = 16384;

// Calls fn(begin, end) for ranges of elements, on several threads if there are many. Ranges end at
// multiples of kRangeUnit, so results do not depend on the number of threads. Arrays must not
// overlap. `fn` changes w and the states s by reference. `fn` is thread-safe for disjoint ranges.
// Returns when all calls have returned.
template <typename Fn>
void UpdateRanges(int64_t elements, const Fn& fn) {
  ParallelFor(NumRangeUnits(elements), kUpdateGrain / kRangeUnit, [&](int64_t begin, int64_t end) {
    fn(begin * kRangeUnit, std::min(elements, end * kRangeUnit));
  });
}

// Calls fn(w, g, s...) for each of n elements, in the compute type C, and stores the new weight and
// states, which fn changes by reference. The arrays do not overlap.
template <typename C, typename Fn, typename... S>
void UpdateRange(int64_t n, const Fn& fn, C* __restrict weight, const C* __restrict grad,
                 S* __restrict... state) {
  for (int64_t i = 0; i < n; ++i) {
    C w = weight[i];
    const auto with_states = [&](auto... s) {
      fn(w, grad[i], s...);
      ((state[i] = s), ...);
    };
    with_states(state[i]...);
    weight[i] = w;
  }
}

namespace internal_update {

// Returns whether all arrays have dtype C and the new weight is written to the output. States have
// the dtype of the weight, so their dtypes are not compared.
template <typename C>
bool IsPlain(const UpdateArrays& a) {
  constexpr DType kOwn = DTypeOf<C>();
  return a.weight.dtype == kOwn && a.grad.dtype == kOwn && a.output.dtype == kOwn &&
         a.req == WriteReq::kWrite;
}

// Returns the address of element `begin`, without a conversion.
template <typename C>
C* From(const ArrayView& array, int64_t begin) {
  return array.as<C>() + begin;
}

// Updates the elements [begin, end) in place, without conversions. I are the indices of the states.
// The weight is first copied to the output, unless they are one array, so the loop always works in
// place.
template <typename C, typename Fn, size_t... I>
void UpdatePlain(const UpdateArrays& a, int64_t begin, int64_t end, const Fn& fn,
                 std::index_sequence<I...> /*states*/) {
  C* const out = From<C>(a.output, begin);
  const C* const weight = From<C>(a.weight, begin);
  if (out != weight) std::memcpy(out, weight, static_cast<size_t>(end - begin) * sizeof(C));
  UpdateRange<C>(end - begin, fn, out, From<C>(a.grad, begin), From<C>(a.states[I], begin)...);
}

// Updates the elements [begin, end) in blocks of type C on the stack, for arrays of other dtypes
// and requests other than kWrite. With blocks, loops are compiled for two compute types only. With
// kMaster the float32 weight is stored to itself and the rounded weight to the output. Without it,
// only the output receives the new weight.
template <typename C, bool kMaster, typename Fn, size_t... I>
void UpdateBlocks(const UpdateArrays& a, int64_t begin, int64_t end, const Fn& fn,
                  std::index_sequence<I...> /*states*/) {
  C weight[kElementBlock], grad[kElementBlock];
  [[maybe_unused]] C states[sizeof...(I) + 1][kElementBlock];
  for (; begin < end; begin += kElementBlock) {
    const int64_t n = std::min(kElementBlock, end - begin);
    const auto load = [begin, n](const ArrayView& array, C* block) {
      LoadBlock(ElementAt(array.data, array.dtype, begin), array.dtype, n, block);
    };
    const auto store = [begin, n](const C* block, WriteReq req, const ArrayView& array) {
      StoreBlock(block, n, req, ElementAt(array.data, array.dtype, begin), array.dtype);
    };
    load(a.weight, weight);
    load(a.grad, grad);
    (load(a.states[I], states[I]), ...);
    UpdateRange<C>(n, fn, weight, grad, static_cast<C*>(states[I])...);
    (store(states[I], WriteReq::kWrite, a.states[I]), ...);
    if (kMaster) store(weight, WriteReq::kWrite, a.weight);
    store(weight, a.req, a.output);
  }
}

}  // namespace internal_update

// Updates the arrays with make(TypeTag<C>()) as the function of UpdateRange, on several threads.
// Several threads call make's result at once, as const. States are updated even if the request is
// kNull.
//
// Errors: kUnimplemented if the dtypes of weight and gradient do not fit together. kStates is the
// number of states.
template <int kStates, bool kMaster, typename Make>
absl::Status UpdateElements(const KernelContext& c, const UpdateArrays& a, const Make& make) {
  const auto nothing = [](auto /*weight*/, auto /*grad*/) {};
  if (!DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, nothing)) {
    return UnsupportedUpdateError(c, a.weight.dtype, a.grad.dtype);
  }
  const auto update = [&](auto tag) {
    using C = typename decltype(tag)::type;
    constexpr auto kIndices = std::make_index_sequence<kStates>();
    const bool plain = internal_update::IsPlain<C>(a);
    UpdateRanges(a.grad.size(), [&, fn = make(tag)](int64_t begin, int64_t end) {
      if (plain) {
        internal_update::UpdatePlain<C>(a, begin, end, fn, kIndices);
      } else {
        internal_update::UpdateBlocks<C, kMaster>(a, begin, end, fn, kIndices);
      }
    });
  };
  a.weight.dtype == DType::kFloat64 ? update(TypeTag<double>()) : update(TypeTag<float>());
  return absl::OkStatus();
}

// Runs update U: a Kernel::RunFn. With kMaster it is the kernel of its variant with a float32 copy
// of the weight. U is a struct as in update_function.h. The order of the inputs is weight,
// gradient, states, master weight; the output is the new weight.
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

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_ELEMENT_UPDATE_H_
