#include "executor/plan/usage_profile.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/random.h"

namespace cooper {
namespace {

TEST(UsageProfileTest, TellsThePeakAndItsLength) {
  UsageProfile profile({3, 5, 5, 1});
  EXPECT_EQ(profile.peak(), (UsageProfile::Peak{.bytes = 5, .steps = 2}));
  profile.Add(1, 2, -4);
  EXPECT_EQ(profile.peak(), (UsageProfile::Peak{.bytes = 5, .steps = 1}));
  profile.Add(0, 4, 10);
  EXPECT_EQ(profile.peak(), (UsageProfile::Peak{.bytes = 15, .steps = 1}));
  profile.Add(2, 2, 100);
  profile.Add(3, 1, 100);
  EXPECT_EQ(profile.peak(), (UsageProfile::Peak{.bytes = 15, .steps = 1}));
}

TEST(UsageProfileTest, NoSteps) {
  UsageProfile profile({});
  profile.Add(0, 0, 1);
  EXPECT_EQ(profile.peak(), UsageProfile::Peak());
}

TEST(UsageProfileTest, IsWhatCountingGives) {
  RandomGenerator random(1);
  for (int n = 1; n <= 40; ++n) {
    std::vector<int64_t> usage(n);
    for (int64_t& bytes : usage) bytes = static_cast<int64_t>(random.NextBelow(10));
    UsageProfile profile(usage);
    for (int change = 0; change < 50; ++change) {
      const int a = static_cast<int>(random.NextBelow(n + 1));
      const int b = static_cast<int>(random.NextBelow(n + 1));
      const int64_t bytes = static_cast<int64_t>(random.NextBelow(9)) - 4;
      profile.Add(std::min(a, b), std::max(a, b), bytes);
      for (int i = std::min(a, b); i < std::max(a, b); ++i) usage[i] += bytes;
      const int64_t most = *std::max_element(usage.begin(), usage.end());
      const auto steps = std::count(usage.begin(), usage.end(), most);
      ASSERT_EQ(profile.peak(),
                (UsageProfile::Peak{.bytes = most, .steps = static_cast<int>(steps)}));
    }
  }
}

}  // namespace
}  // namespace cooper
