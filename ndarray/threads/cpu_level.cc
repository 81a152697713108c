#include "ndarray/threads/cpu_level.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#ifdef COOPER_CPU_LEVELS
#include <cpuid.h>
#endif

#include "glog/logging.h"

namespace cooper {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::kBaseline, CpuLevel::kAvx2, CpuLevel::kAvx512};

CpuLevel Detect() {
#ifdef COOPER_CPU_LEVELS
  // Also checks that the operating system saves the registers.
  __builtin_cpu_init();
  // clang 14's builtin does not know F16C.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  if (!f16c || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    return CpuLevel::kBaseline;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return CpuLevel::kAvx512;
  }
  return CpuLevel::kAvx2;
#else
  return CpuLevel::kBaseline;
#endif
}

}  // namespace

const char* CpuLevelName(CpuLevel level) {
  switch (level) {
    case CpuLevel::kBaseline:
      return "baseline";
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      return "avx512";
  }
  return "unknown";
}

CpuLevel HighestCpuLevel() {
  static const CpuLevel highest = Detect();
  return highest;
}

void SetCpuLevel(CpuLevel level) {
  internal_cpu_level::level.store(static_cast<int>(std::min(level, HighestCpuLevel())),
                                  std::memory_order_relaxed);
}

CpuLevel internal_cpu_level::InitLevel() {
  CpuLevel wanted = HighestCpuLevel();
  if (const char* name = std::getenv("COOPER_CPU_LEVEL"); name != nullptr && *name != '\0') {
    const auto* found = std::find_if(std::begin(kLevels), std::end(kLevels), [&](CpuLevel level) {
      return std::string_view(name) == CpuLevelName(level);
    });
    if (found == std::end(kLevels)) {
      LOG(WARNING) << "COOPER_CPU_LEVEL is '" << name << "', expected baseline, avx2 or avx512";
    } else {
      wanted = std::min(wanted, *found);
    }
  }
  // Concurrent first calls find the same level.
  SetCpuLevel(wanted);
  return wanted;
}

}  // namespace cooper
