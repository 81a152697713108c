#include "ndarray/threads/cpu_level.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

TEST(CpuLevelTest, IsTheHighestUnlessTheEnvironmentSaysLess) {
  const char* name = std::getenv("COOPER_CPU_LEVEL");
  if (name == nullptr) {
    EXPECT_EQ(GetCpuLevel(), HighestCpuLevel());
  } else {
    EXPECT_LE(GetCpuLevel(), HighestCpuLevel());
  }
}

TEST(CpuLevelTest, IsNeverAboveTheHighest) {
  const CpuLevel before = GetCpuLevel();
  SetCpuLevel(CpuLevel::kAvx512);
  EXPECT_EQ(GetCpuLevel(), HighestCpuLevel());
  SetCpuLevel(CpuLevel::kBaseline);
  EXPECT_EQ(GetCpuLevel(), CpuLevel::kBaseline);
  SetCpuLevel(before);
}

TEST(CpuLevelTest, UnknownNamesInTheEnvironmentAreIgnored) {
  struct Case {
    const char* name;
    CpuLevel level;
  };
  const CpuLevel highest = HighestCpuLevel();
  for (const Case& c : {Case{"baseline", CpuLevel::kBaseline}, Case{"avx512", highest},
                        Case{"", highest}, Case{"AVX2", highest}}) {
    ASSERT_EQ(setenv("COOPER_CPU_LEVEL", c.name, /*overwrite=*/1), 0);
    EXPECT_EQ(internal_cpu_level::InitLevel(), c.level) << c.name;
    EXPECT_EQ(GetCpuLevel(), c.level) << c.name;
  }
  unsetenv("COOPER_CPU_LEVEL");
  SetCpuLevel(highest);
}

TEST(RunAtCpuLevelTest, ComputesTheSame) {
  // Products and sums that are exact, so that one rounding or two make no difference.
  std::vector<float> values(1003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ForEachCpuLevel([&] {
    std::vector<float> out(values.size(), -1);
    RunAtCpuLevel([&] {
      for (size_t i = 0; i < out.size(); ++i) out[i] = values[i] * 3 + 1;
    });
    std::vector<float> parallel(values.size(), -1);
    ParallelFor(static_cast<int64_t>(out.size()), 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) parallel[i] = values[i] * 3 + 1;
    });
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], 3.0f * static_cast<float>(i) + 1) << i;
      ASSERT_EQ(parallel[i], out[i]) << i;
    }
  });
}

// A function that is optimised as in BUILD is compiled for the level of the function that inlines
// it.
#ifdef COOPER_CPU_LEVELS
float Residue(float x) { return x * x - 1.0f; }

TEST(RunAtCpuLevelTest, UsesTheInstructionsOfTheLevel) {
  // x^2 = 1 + 2^-11 + 2^-24 needs one bit more than a float has: only FMA keeps it.
  volatile float x = 1.0f + 0x1p-12f;
  ForEachCpuLevel([&] {
    float residue = 0;
    RunAtCpuLevel([&] { residue = Residue(x); });
    EXPECT_EQ(residue == 0x1p-11f + 0x1p-24f, GetCpuLevel() >= CpuLevel::kAvx2) << residue;
  });
}
#endif

}  // namespace
}  // namespace cooper
