#ifndef COOPER_EXECUTOR_CUDA_OPTIMIZER_UPDATE_ELEMENTS_H_
#define COOPER_EXECUTOR_CUDA_OPTIMIZER_UPDATE_ELEMENTS_H_

// Kernels of updates: one pass over weight, gradient and states, with the functions of
// executor/elements. For .cu files; executor/cpu/optimizer/element_update.h is the CPU's.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "executor/cuda/launch.h"
#include "executor/elements/update_function.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"

namespace cooper {

// Where a kernel gets the function of an element from: here, from the host. One that depends on
// numbers that are on the device is made by each thread, in a Get() of its own.
template <typename Fn>
struct FunctionOf {
  Fn fn;
  __device__ const Fn& Get() const { return fn; }
};

// The arrays of one weight's update: W holds what is trained, G is the dtype of the gradient.
template <int kStates, bool kMaster, typename W, typename G>
struct UpdatePointers {
  using Out = std::conditional_t<kMaster, G, W>;
  W* weight;
  const G* grad;
  W* states[kStates > 0 ? kStates : 1];
  Out* output;  // may be the weight
};

template <typename Fn, typename C, size_t... I>
__device__ void CallUpdate(const Fn& fn, C& w, C g, C* states, std::index_sequence<I...>) {
  fn(w, g, states[I]...);
}

// A weight that has a copy in W is written through it; any other only as the output.
template <int kStates, bool kMaster, typename W, typename G, typename Source>
__global__ void Update(int64_t n, UpdatePointers<kStates, kMaster, W, G> a, WriteReq req,
                       Source source) {
  using C = ComputeType<W>;
  using Out = std::conditional_t<kMaster, G, W>;
  const auto fn = source.Get();
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C w = ConvertElement<C>(a.weight[i]);
    const C g = ConvertElement<C>(a.grad[i]);
    C states[kStates > 0 ? kStates : 1];
    for (int k = 0; k < kStates; ++k) states[k] = ConvertElement<C>(a.states[k][i]);
    CallUpdate(fn, w, g, states, std::make_index_sequence<kStates>());
    for (int k = 0; k < kStates; ++k) a.states[k][i] = ConvertElement<W>(states[k]);
    if (kMaster) a.weight[i] = ConvertElement<W>(w);
    const Out made = ConvertElement<Out>(w);
    if (req == WriteReq::kWrite) {
      a.output[i] = made;
    } else if (req == WriteReq::kAdd) {
      using O = ComputeType<Out>;
      a.output[i] = ConvertElement<Out>(
          static_cast<O>(ConvertElement<O>(a.output[i]) + ConvertElement<O>(made)));
    }
  }
}

// Updates with source(TypeTag<C>()) as what Update gets its function from.
template <int kStates, bool kMaster, typename Make>
absl::Status LaunchUpdate(const KernelContext& c, const UpdateArrays& a, const Make& source) {
  absl::Status status;
  const bool known =
      DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using Pointers = UpdatePointers<kStates, kMaster, W, G>;
        using Source = decltype(source(TypeTag<ComputeType<W>>()));
        Pointers pointers = {.weight = a.weight.as<W>(),
                             .grad = a.grad.as<const G>(),
                             .states = {},
                             .output = a.output.as<typename Pointers::Out>()};
        for (int k = 0; k < kStates; ++k) pointers.states[k] = a.states[k].template as<W>();
        const int64_t n = a.grad.size();
        status.Update(LaunchElements(c, n, Update<kStates, kMaster, W, G, Source>, n, pointers,
                                     a.req, source(TypeTag<ComputeType<W>>())));
      });
  return known ? status : NoUpdateFor(c, a.weight.dtype, a.grad.dtype);
}

// The same for a function that the host makes: make(TypeTag<C>()).
template <int kStates, bool kMaster, typename Make>
absl::Status UpdateWith(const KernelContext& c, const UpdateArrays& a, const Make& make) {
  return LaunchUpdate<kStates, kMaster>(
      c, a, [&](auto tag) { return FunctionOf<decltype(make(tag))>{make(tag)}; });
}

// The kernel of an update, and of its relative.
template <typename U, bool kMaster>
absl::Status UpdateGpu(const KernelContext& c) {
  const auto& p = c.param<typename U::Param>();
  return UpdateWith<U::kStates, kMaster>(
      c, ArraysOfUpdate<U::kStates, kMaster>(c.inputs, c.outputs[0], c.reqs[0]),
      [&](auto tag) { return U::template Make<typename decltype(tag)::type>(p); });
}

#define COOPER_REGISTER_CUDA_UPDATE(op, master_op, U)                                 \
  COOPER_REGISTER_KERNEL(op, DeviceType::kGpu, kUpdateDTypes, (UpdateGpu<U, false>)); \
  COOPER_REGISTER_KERNEL(master_op, DeviceType::kGpu, kUpdateDTypes, (UpdateGpu<U, true>))

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_OPTIMIZER_UPDATE_ELEMENTS_H_
