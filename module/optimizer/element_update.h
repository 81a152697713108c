#ifndef COOPER_MODULE_OPTIMIZER_ELEMENT_UPDATE_H_
#define COOPER_MODULE_OPTIMIZER_ELEMENT_UPDATE_H_

// The loops of optimizers: one pass over weight, gradient and state arrays, in parallel and written
// so that the compiler vectorises it.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ndarray/cpu_level.h"
#include "ndarray/dtype.h"
#include "ndarray/ndarray.h"
#include "ndarray/parallel.h"

namespace cooper::internal_optimizer {

// Below this many elements a thread costs more than it saves.
inline constexpr int64_t kGrain = 16384;
// Sums are made of blocks of this size, so that they do not depend on the number of threads.
inline constexpr int64_t kBlock = 16384;

// A number in the type of the arithmetic.
template <typename C>
C As(double value) {
  return static_cast<C>(value);
}

template <typename C>
C Clip(C value, C limit) {
  return std::min(std::max(value, -limit), limit);  // keeps NaN
}

// Calls fn(w, g, s...) for each element of [begin, end), which may change w and s. W and its states
// hold what is trained; G is the dtype of the gradient; `half` takes the new weight in G, or is
// null, as it always is where W is G.
template <typename W, typename G, typename Fn, typename... S>
void UpdateRange(int64_t begin, int64_t end, const Fn& fn, W* __restrict weight,
                 const G* __restrict grad, G* __restrict half, S* __restrict... state) {
  using C = ComputeType<W>;
  const auto update = [&](int64_t i) {
    C w = static_cast<C>(weight[i]);
    const C g = static_cast<C>(static_cast<ComputeType<G>>(grad[i]));
    const auto with_states = [&](auto... s) {
      fn(w, g, s...);
      ((state[i] = static_cast<W>(s)), ...);
    };
    with_states(static_cast<C>(state[i])...);
    weight[i] = static_cast<W>(w);
    return w;
  };
  if constexpr (!std::is_same_v<W, G>) {
    if (half != nullptr) {
      for (int64_t i = begin; i < end; ++i) half[i] = static_cast<G>(update(i));
      return;
    }
  }
  for (int64_t i = begin; i < end; ++i) update(i);
}

// The sum of fn(w, g, s...) over [begin, end), in eight lanes so that it vectorises.
template <typename W, typename G, typename Fn, typename... S>
double SumRange(int64_t begin, int64_t end, const Fn& fn, const W* __restrict weight,
                const G* __restrict grad, const S* __restrict... state) {
  using C = ComputeType<W>;
  constexpr int kLanes = 8;
  const auto value = [&](int64_t i) {
    return static_cast<double>(fn(static_cast<C>(weight[i]),
                                  static_cast<C>(static_cast<ComputeType<G>>(grad[i])),
                                  static_cast<C>(state[i])...));
  };
  double lanes[kLanes] = {};
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += value(i + lane);
  }
  for (; i < end; ++i) lanes[0] += value(i);
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

// Calls run(TypeTag<W>, TypeTag<G>) for the dtypes of weight and gradient: equal ones, or float32
// and a 16-bit float.
template <typename Run>
absl::Status DispatchWeight(DType weight, DType grad, const Run& run) {
  if (weight == DType::kFloat32) {
    if (grad == DType::kFloat32) return run(TypeTag<float>(), TypeTag<float>());
    if (grad == DType::kFloat16) return run(TypeTag<float>(), TypeTag<Float16>());
    if (grad == DType::kBfloat16) return run(TypeTag<float>(), TypeTag<BFloat16>());
  } else if (weight == grad) {
    if (weight == DType::kFloat64) return run(TypeTag<double>(), TypeTag<double>());
    if (weight == DType::kFloat16) return run(TypeTag<Float16>(), TypeTag<Float16>());
    if (weight == DType::kBfloat16) return run(TypeTag<BFloat16>(), TypeTag<BFloat16>());
  }
  return absl::InvalidArgumentError(absl::StrCat("optimizer: no update of ", DTypeName(weight),
                                                 " weights with ", DTypeName(grad), " gradients"));
}

template <typename T>
T* Pointer(const NDArray& array) {
  return static_cast<T*>(array.raw_data());
}

// Updates the elements of the step's part (Optimizer::Step), or all. `make`(TypeTag<C>()) gives the
// function of UpdateRange in the type of the arithmetic. Requires N CPU arrays in `a.state`, of the
// weight's shape and dtype.
template <size_t N, typename Step, typename Arrays, typename Make>
absl::Status UpdateElements(const Step& step, const Arrays& a, const Make& make) {
  return DispatchWeight(a.weight.dtype(), a.grad.dtype(), [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    const auto fn = make(TypeTag<ComputeType<W>>());
    const int64_t count = a.weight.size();
    [&]<size_t... I>(std::index_sequence<I...>) {
      // One body for both cases below: it is compiled for each level, which takes seconds.
      const auto update = [&](int64_t begin, int64_t end) {
        RunAtCpuLevel([&] {
          UpdateRange(begin, end, fn, Pointer<W>(a.weight), Pointer<const G>(a.grad),
                      Pointer<G>(a.half_weight), Pointer<W>(a.state[I])...);
        });
      };
      if (step.parts == 1) {
        ParallelForPlain(count, kGrain, update);
      } else {
        update(count * step.part / step.parts, count * (step.part + 1) / step.parts);
      }
    }
    (std::make_index_sequence<N>());
    return absl::OkStatus();
  });
}

// The sum of a function of the elements, equal for every number of threads. `blocks` is scratch.
template <size_t N, typename Make>
absl::Status SumElements(const NDArray& weight, const NDArray& grad,
                         absl::Span<const NDArray> state, const Make& make,
                         std::vector<double>* blocks, double* sum) {
  return DispatchWeight(weight.dtype(), grad.dtype(), [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    const auto fn = make(TypeTag<ComputeType<W>>());
    const int64_t size = weight.size();
    const int64_t num_blocks = (size + kBlock - 1) / kBlock;
    blocks->resize(static_cast<size_t>(num_blocks));
    [&]<size_t... I>(std::index_sequence<I...>) {
      ParallelFor(num_blocks, 1, [&](int64_t first, int64_t last) {
        for (int64_t block = first; block < last; ++block) {
          (*blocks)[block] = SumRange(block * kBlock, std::min(size, (block + 1) * kBlock), fn,
                                      Pointer<const W>(weight), Pointer<const G>(grad),
                                      Pointer<const W>(state[I])...);
        }
      });
    }
    (std::make_index_sequence<N>());
    *sum = 0;
    for (double block : *blocks) *sum += block;
    return absl::OkStatus();
  });
}

}  // namespace cooper::internal_optimizer

#endif  // COOPER_MODULE_OPTIMIZER_ELEMENT_UPDATE_H_
