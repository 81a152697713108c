#ifndef COOPER_NDARRAY_THREADS_VECTOR_LENGTH_H_
#define COOPER_NDARRAY_THREADS_VECTOR_LENGTH_H_

// Runs loops that are written with vectors of the processor's length.

#include <type_traits>

#include "ndarray/threads/cpu_level.h"

namespace cooper {

// Calls fn(lanes) like RunAtCpuLevel, where `lanes` is the number of floats in a vector register of
// the level, as a std::integral_constant, so that arrays of that length become registers: 16 at
// kAvx512, 8 at kAvx2, and that of the compilation target at kBaseline. `fn` is compiled once for
// each level, so it must be a generic lambda and should be small. Arrays of double have half as
// many elements for each register.
template <typename Fn>
void RunAtVectorLength(const Fn& fn) {
#ifdef COOPER_CPU_LEVELS
  switch (GetCpuLevel()) {
    case CpuLevel::kAvx512:
      return internal_cpu_level::RunAtAvx512([&] { fn(std::integral_constant<int, 16>()); });
    case CpuLevel::kAvx2:
      return internal_cpu_level::RunAtAvx2([&] { fn(std::integral_constant<int, 8>()); });
    case CpuLevel::kBaseline:
      break;
  }
#endif
#if defined(__AVX512F__)
  fn(std::integral_constant<int, 16>());
#elif defined(__AVX2__)
  fn(std::integral_constant<int, 8>());
#else
  fn(std::integral_constant<int, 4>());
#endif
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_VECTOR_LENGTH_H_
