#ifndef COOPER_NDARRAY_THREADS_CPU_LEVEL_H_
#define COOPER_NDARRAY_THREADS_CPU_LEVEL_H_

// Runs hot loops at the best vector level of the processor: they are compiled for several levels,
// so that one program serves all x86-64 processors.
//
// A program that is compiled for AVX2 as a whole (--config=native, -march=x86-64-v3), or for
// another processor family, has each loop once, without a choice. Levels differ in the last bits of
// results, since kAvx2 and above fuse a multiplication and an addition into one rounding.

#include <atomic>

namespace cooper {

// The instruction sets for which loops are compiled. Each level includes the lower ones.
enum class CpuLevel {
  kBaseline,  // the program's compilation target: SSE2 of x86-64, unless flags say more
  kAvx2,      // with FMA, F16C, BMI1 and BMI2: x86-64-v3 (Haswell, Zen and later)
  kAvx512,    // F, BW, CD, DQ and VL, in 512-bit registers: x86-64-v4 (Skylake-SP, Zen 4 and later)
};
const char* CpuLevelName(CpuLevel level);  // "baseline", "avx2", "avx512"

// Returns the highest level that the processor has and the program was compiled for.
CpuLevel HighestCpuLevel();

// Returns the level at which loops run, except those of RunAtLevel: the highest one, or the lower
// one that the environment variable COOPER_CPU_LEVEL names.
inline CpuLevel GetCpuLevel();

// Changes the level, at most to HighestCpuLevel(). For tests; no loop may be running.
void SetCpuLevel(CpuLevel level);

// Defined if loops are compiled for several levels. The target attributes list the instructions
// that each level may use.
#if defined(__x86_64__) && !defined(__AVX2__)
#define COOPER_CPU_LEVELS 1
#define COOPER_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,f16c,fma")))
#define COOPER_TARGET_AVX512 \
  __attribute__((target("avx2,bmi,bmi2,f16c,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))
#endif

namespace internal_cpu_level {

// The current level as an int; negative until the first call of GetCpuLevel().
inline std::atomic<int> level{-1};
CpuLevel InitLevel();

// A compiler inlines functions without a target attribute into those with one and then vectorises
// for that target; `flatten` inlines everything whose body is visible. `noinline` keeps the
// instructions of the levels out of code that runs on any processor. The baseline is `cold`,
// compiled for size: processors without AVX2 are rare, and their loops would be a third of a
// kernel's code.
#ifdef COOPER_CPU_LEVELS
template <typename Fn>
__attribute__((cold, noinline)) void RunAtBaseline(const Fn& fn) {
  fn();
}
template <typename Fn>
COOPER_TARGET_AVX2 __attribute__((flatten, noinline)) void RunAtAvx2(const Fn& fn) {
  fn();
}
template <typename Fn>
COOPER_TARGET_AVX512 __attribute__((flatten, noinline)) void RunAtAvx512(const Fn& fn) {
  fn();
}
#endif

}  // namespace internal_cpu_level

inline CpuLevel GetCpuLevel() {
  const int level = internal_cpu_level::level.load(std::memory_order_relaxed);
  return level >= 0 ? static_cast<CpuLevel>(level) : internal_cpu_level::InitLevel();
}

// Calls fn(), compiled for the current level as far as it and its callees can be inlined. Functions
// of other files run as they were compiled there, and use RunAtCpuLevel themselves if they are hot.
// Costs a few nanoseconds; the code exists three times.
template <typename Fn>
void RunAtCpuLevel(const Fn& fn) {
#ifdef COOPER_CPU_LEVELS
  switch (GetCpuLevel()) {
    case CpuLevel::kAvx512:
      return internal_cpu_level::RunAtAvx512(fn);
    case CpuLevel::kAvx2:
      return internal_cpu_level::RunAtAvx2(fn);
    case CpuLevel::kBaseline:
      break;
  }
  internal_cpu_level::RunAtBaseline(fn);
#else
  fn();
#endif
}

// Calls fn(), compiled for kLevel alone whatever the current level is: for loops whose vectors have
// the width of that level. The processor must have it (HighestCpuLevel()). A program that is
// compiled for one level runs fn() as it is.
template <CpuLevel kLevel, typename Fn>
void RunAtLevel(const Fn& fn) {
#ifdef COOPER_CPU_LEVELS
  if constexpr (kLevel == CpuLevel::kAvx512) return internal_cpu_level::RunAtAvx512(fn);
  if constexpr (kLevel == CpuLevel::kAvx2) return internal_cpu_level::RunAtAvx2(fn);
  if constexpr (kLevel == CpuLevel::kBaseline) return internal_cpu_level::RunAtBaseline(fn);
#else
  fn();
#endif
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_CPU_LEVEL_H_
