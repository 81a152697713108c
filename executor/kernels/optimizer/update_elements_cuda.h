#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_ELEMENTS_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_ELEMENTS_CUDA_H_

// GPU kernels of updates: one pass over weight, gradient and states, with the functions of
// sgd_functions.h, adam_functions.h and others, and one launch for many weights. For .cu files;
// element_update.h is the counterpart for the CPU.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/optimizer/update_function.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// A source of an update's function: Get() returns the function that the host made. A source that
// depends on numbers in device memory makes the function in its own Get(), in each thread. Fn is
// copied into the kernel's arguments.
template <typename Fn>
struct FunctionOf {
  Fn fn;
  __device__ const Fn& Get() const { return fn; }
};

// The arrays of one weight's update: W is the dtype of the trained weight, G of the gradient. All
// pointers are device memory, not owned. Out is the dtype of the output: that of the gradient with
// kMaster, where the network computes in 16 bits.
template <int kStates, bool kMaster, typename W, typename G>
struct UpdatePointers {
  using Out = std::conditional_t<kMaster, G, W>;
  // The trained weight, which is float32 with kMaster.
  W* weight;
  const G* grad;
  // kStates arrays of the weight's dtype and size; one unused element without states.
  W* states[kStates > 0 ? kStates : 1];
  Out* output;  // may be the weight
};

// One weight of a launch. Source is a source of the update's function, such as FunctionOf. It is
// copied into the kernel's argument, so it must be trivially copyable.
template <int kStates, bool kMaster, typename W, typename G, typename Source>
struct OneUpdate {
  UpdatePointers<kStates, kMaster, W, G> arrays;
  // The number of elements, at least 1.
  int64_t n;
  // Get() is called once by each thread.
  Source source;
  // How the output is written; states and a master weight are always written.
  WriteReq req;
  unsigned end_block;  // its blocks begin at end_block of the previous weight
};

// The weights of one launch. It is the kernel's argument: every GPU takes arguments of 4 KB. kMax
// is the number of weights that fit, at most 32.
template <typename One>
struct UpdateList {
  // kBytes is the portable limit of a kernel's arguments, kMany the most weights worth one launch.
  static constexpr size_t kBytes = 4096, kMany = 32;
  static constexpr size_t kMax = kBytes / sizeof(One) < kMany ? kBytes / sizeof(One) : kMany;
  // The first entries are in use; end_block of the last one is the size of the grid.
  One at[kMax];
};

// Calls the update's function with its states as separate arguments. I are the indices of the
// states.
template <typename Fn, typename C, size_t... I>
__device__ void CallUpdate(const Fn& fn, C& w, C g, C* states, std::index_sequence<I...>) {
  fn(w, g, states[I]...);
}

// Updates the elements of the weights in `list`. A master weight is written itself; any other
// weight only through the output. Each weight has its own range of blocks, and each block finds its
// weight by a linear search in at most 32 entries. Blocks of a weight stride over its elements.
template <int kStates, bool kMaster, typename W, typename G, typename Source>
__global__ void Update(
    const __grid_constant__ UpdateList<OneUpdate<kStates, kMaster, W, G, Source>> list) {
  using C = ComputeType<W>;
  using Out = std::conditional_t<kMaster, G, W>;
  unsigned begin_block = 0;
  int own = 0;
  while (blockIdx.x >= list.at[own].end_block) begin_block = list.at[own++].end_block;
  const auto& one = list.at[own];
  const UpdatePointers<kStates, kMaster, W, G> a = one.arrays;
  const int64_t n = one.n;
  const WriteReq req = one.req;
  const auto fn = one.source.Get();
  const int64_t step = static_cast<int64_t>(one.end_block - begin_block) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x - begin_block) * blockDim.x + threadIdx.x;
  for (; i < n; i += step) {
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

// Updates `count` weights with as few launches as their dtypes allow. arrays_of(i) returns weight
// i's UpdateArrays, source_of(i, TypeTag<C>()) the source of its function. A launch ends at a
// weight of other dtypes or after kMax weights. Weights without elements are skipped. Does not wait
// for the device.
//
// Errors: kUnimplemented if the dtypes of a weight and its gradient do not fit together; those of
// Launch.
template <int kStates, bool kMaster, typename Arrays, typename Make>
absl::Status LaunchUpdates(const KernelContext& c, size_t count, const Arrays& arrays_of,
                           const Make& source_of) {
  for (size_t i = 0; i < count;) {
    const UpdateArrays first = arrays_of(i);
    // Launches one kernel for the weights from i on that have the dtypes of the first, up to kMax
    // of them.
    const auto take = [&](auto w_tag, auto g_tag) -> absl::Status {
      using W = typename decltype(w_tag)::type;
      using G = typename decltype(g_tag)::type;
      using Tag = TypeTag<ComputeType<W>>;
      using Source = decltype(source_of(i, Tag()));
      using One = OneUpdate<kStates, kMaster, W, G, Source>;
      UpdateList<One> list;
      unsigned blocks = 0;
      for (size_t taken = 0; i < count && taken < list.kMax; ++i) {
        const UpdateArrays a = arrays_of(i);
        if (a.weight.dtype != first.weight.dtype || a.grad.dtype != first.grad.dtype) break;
        const int64_t n = a.grad.size();
        if (n == 0) continue;
        blocks += ElementBlocks(n);
        One& one = list.at[taken++];
        one = {.arrays = {.weight = a.weight.template as<W>(),
                          .grad = a.grad.template as<const G>(),
                          .states = {},
                          .output = a.output.template as<typename decltype(one.arrays)::Out>()},
               .n = n,
               .source = source_of(i, Tag()),
               .req = a.req,
               .end_block = blocks};
        for (int k = 0; k < kStates; ++k) one.arrays.states[k] = a.states[k].template as<W>();
      }
      if (blocks == 0) return absl::OkStatus();
      return Launch(c, dim3(blocks), dim3(kElementThreads), Update<kStates, kMaster, W, G, Source>,
                    list);
    };
    absl::Status status;
    const bool known =
        DispatchUpdate<kMaster>(first.weight.dtype, first.grad.dtype,
                                [&](auto w_tag, auto g_tag) { status.Update(take(w_tag, g_tag)); });
    if (!known) return UnsupportedUpdateError(c, first.weight.dtype, first.grad.dtype);
    COOPER_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Updates one weight, with source(TypeTag<C>()) as the source of its function. The errors are those
// of LaunchUpdates.
template <int kStates, bool kMaster, typename Make>
absl::Status LaunchUpdate(const KernelContext& c, const UpdateArrays& a, const Make& source) {
  return LaunchUpdates<kStates, kMaster>(
      c, 1, [&](size_t) -> const UpdateArrays& { return a; },
      [&](size_t, auto tag) { return source(tag); });
}

// Updates one weight with a function that the host makes: make(TypeTag<C>()).
template <int kStates, bool kMaster, typename Make>
absl::Status UpdateWith(const KernelContext& c, const UpdateArrays& a, const Make& make) {
  return LaunchUpdate<kStates, kMaster>(
      c, a, [&](auto tag) { return FunctionOf<decltype(make(tag))>{make(tag)}; });
}

// Runs update U for several weights, each with a context of its own: a Kernel::RunAllFn. All
// contexts have the same device and stream. For networks of many small weights, each of which would
// be a launch of its own.
template <typename U, bool kMaster>
absl::Status UpdateAllGpu(absl::Span<const KernelContext> all) {
  return LaunchUpdates<U::kStates, kMaster>(
      all[0], all.size(),
      [&](size_t i) {
        return ArraysOfUpdate<U::kStates, kMaster>(all[i].inputs, all[i].outputs[0],
                                                   all[i].reqs[0]);
      },
      [&](size_t i, auto tag) {
        using C = typename decltype(tag)::type;
        const auto& p = all[i].template param<typename U::Param>();
        return FunctionOf<typename U::template Fn<C>>{U::template Make<C>(p)};
      });
}

// Runs update U for one weight: a Kernel::RunFn.
template <typename U, bool kMaster>
absl::Status UpdateGpu(const KernelContext& c) {
  return UpdateAllGpu<U, kMaster>({&c, 1});
}

#define COOPER_REGISTER_CUDA_UPDATE(op, master_op, U)                                         \
  COOPER_REGISTER_KERNEL(op, DeviceType::kGpu, kUpdateDTypes, (UpdateGpu<U, false>), nullptr, \
                         (UpdateAllGpu<U, false>));                                           \
  COOPER_REGISTER_KERNEL(master_op, DeviceType::kGpu, kUpdateDTypes, (UpdateGpu<U, true>),    \
                         nullptr, (UpdateAllGpu<U, true>))

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_ELEMENTS_CUDA_H_
