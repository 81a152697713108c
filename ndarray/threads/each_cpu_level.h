#ifndef COOPER_NDARRAY_THREADS_EACH_CPU_LEVEL_H_
#define COOPER_NDARRAY_THREADS_EACH_CPU_LEVEL_H_

// Runs tests of loops that are compiled for several levels.

#include "gtest/gtest.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

// Calls fn() once at each level that the processor has, from the lowest on, and then restores the
// previous level. The trace of a failure names the level. No loop may be running on another thread.
// The level is a global of the process (cpu_level.h). On a processor without AVX2 only kBaseline is
// tested.
template <typename Fn>
void ForEachCpuLevel(const Fn& fn) {
  const CpuLevel before = GetCpuLevel();
  for (CpuLevel level : {CpuLevel::kBaseline, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (level > HighestCpuLevel()) break;
    SCOPED_TRACE(CpuLevelName(level));
    SetCpuLevel(level);
    fn();
  }
  SetCpuLevel(before);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_EACH_CPU_LEVEL_H_
