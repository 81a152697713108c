#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_LOOP_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_LOOP_H_

// Turns a function of one to four elements into loops over contiguous memory, the only code that is
// compiled for each function. elemwise_kernel.h has the code around them (dtypes, scalars,
// broadcasting, write requests, threads), which all functions share.
//
//   struct Add {
//     static constexpr int kArity = 2;
//     static constexpr bool kExactIntegers = true;  // has a loop over int64_t; else uses double
//     template <typename C>
//     static C Apply(C a, C b) { return a + b; }
//   };
//
// A function whose vector form holds for some arguments only has, beside Apply, ApplyVector and
// VectorHolds, as COOPER_ANGLE in unary_functions.h. Apply is free of branches and calls where it
// can be, because compilers vectorise only such loops; vector_math.h has functions of this kind.
// The struct also serves the GPU (element_map.h) if Apply is COOPER_HOST_DEVICE.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ndarray/threads/cpu_level.h"

namespace cooper {

// Tells the compiler that iterations are independent, even if the output shares memory with an
// input: out[i] then depends on in[k][i] only. It stands directly before a `for` statement.
#if defined(__clang__)
#define COOPER_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define COOPER_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

// The most operands of a loop. Callers have stack arrays of this size.
inline constexpr int kMaxElemwiseArity = 4;

// Computes out[i] = f(in[0][i], in[1][i], ...) for i in [0, n). `out` may equal an input, but must
// not overlap one otherwise. C is the compute type. Runs on the calling thread; thread-safe.
template <typename C>
using ElemwiseLoop = void (*)(const C* const* in, C* out, int64_t n);

// The loops of one function over the compute types. DispatchComputeType selects the type by the
// output's dtype.
struct ElemwiseLoops {
  int arity;            // F::kArity: the number of operands
  bool exact_integers;  // F::kExactIntegers: whether integers are computed as int64_t
  ElemwiseLoop<float> f32;
  ElemwiseLoop<double> f64;
  ElemwiseLoop<int64_t> i64;  // null unless exact_integers

  // Returns the loop over C, one of float, double and int64_t.
  template <typename C>
  ElemwiseLoop<C> of() const {
    if constexpr (std::is_same_v<C, float>) {
      return f32;
    } else if constexpr (std::is_same_v<C, double>) {
      return f64;
    } else {
      return i64;
    }
  }
};

// Returns ApplyVector, or else Apply, of element i of each operand.
template <typename F, bool kVector, typename C, size_t... kOperands>
C ApplyToElement(const C* const* in, int64_t i, std::index_sequence<kOperands...>) {
  if constexpr (kVector) {
    return F::ApplyVector(in[kOperands][i]...);
  } else {
    return F::Apply(in[kOperands][i]...);
  }
}

// Returns F::VectorHolds of element i of each operand.
template <typename F, typename C, size_t... kOperands>
bool VectorHoldsForElement(const C* const* in, int64_t i, std::index_sequence<kOperands...>) {
  return F::VectorHolds(in[kOperands][i]...);
}

// Computes a loop by ApplyVector, and by Apply where VectorHolds is false: an element's result
// depends on its own arguments alone, not on its neighbours. Blocks of 128 elements for which it is
// true take the vector form only.
template <typename F, typename C>
void LimitedLoopBody(const C* const* in, C* out, int64_t n) {
  constexpr int64_t kBlock = 128;
  using Operands = std::make_index_sequence<F::kArity>;
  // The loop of ApplyVector over a block: the part that compilers vectorise.
  const auto run = [](const C* const* from, C* to, int64_t count) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) to[i] = ApplyToElement<F, true>(from, i, Operands());
  };
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    const C* from[F::kArity];
    for (int k = 0; k < F::kArity; ++k) from[k] = in[k] + begin;
    // The test of a block is a vector loop too, without an exit.
    using Flag = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;  // as wide as C: vectorised
    Flag beyond = 0;
    for (int64_t i = 0; i < count; ++i) {
      beyond |= VectorHoldsForElement<F>(from, i, Operands()) ? Flag{0} : Flag{1};
    }
    if (beyond == 0) {
      run(from, out + begin, count);
      continue;
    }
    C results[kBlock];  // since `out` may be an operand
    run(from, results, count);
    for (int64_t i = 0; i < count; ++i) {
      if (VectorHoldsForElement<F>(from, i, Operands())) continue;
      results[i] = ApplyToElement<F, false>(from, i, Operands());
    }
    std::copy_n(results, count, out + begin);
  }
}

// The loop itself, without a choice of instruction set. Inlined into RunElemwiseLoop, where it is
// compiled once for each CpuLevel.
template <typename F, typename C>
void ElemwiseLoopBody(const C* const* in, C* out, int64_t n) {
  const C* a = in[0];
  if constexpr (std::is_floating_point_v<C> && requires { F::template VectorHolds<C>; }) {
    LimitedLoopBody<F>(in, out, n);
  } else if constexpr (F::kArity == 1) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i]);
  } else if constexpr (F::kArity == 2) {
    const C* b = in[1];
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i], b[i]);
  } else if constexpr (F::kArity == 3) {
    const C* b = in[1];
    const C* c = in[2];
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i], b[i], c[i]);
  } else {
    static_assert(F::kArity == 4);
    const C* b = in[1];
    const C* c = in[2];
    const C* d = in[3];
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i], b[i], c[i], d[i]);
  }
}

// Runs the loop with the vector instructions of the CPU level (RunAtCpuLevel). An ElemwiseLoop<C>.
// Results may differ between levels in the last bits, because higher levels fuse multiplications
// and additions.
template <typename F, typename C>
void RunElemwiseLoop(const C* const* in, C* out, int64_t n) {
  RunAtCpuLevel([=] { ElemwiseLoopBody<F>(in, out, n); });
}

// Returns the loops of F; i64 is null unless F::kExactIntegers.
template <typename F>
constexpr ElemwiseLoops MakeElemwiseLoops() {
  ElemwiseLoops loops{F::kArity, F::kExactIntegers, RunElemwiseLoop<F, float>,
                      RunElemwiseLoop<F, double>, nullptr};
  if constexpr (F::kExactIntegers) loops.i64 = RunElemwiseLoop<F, int64_t>;
  return loops;
}

// The loops of F, an object with static lifetime, so that kernels may keep references to it.
template <typename F>
inline constexpr ElemwiseLoops kElemwiseLoops = MakeElemwiseLoops<F>();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_LOOP_H_
