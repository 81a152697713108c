#include "tools/svg_pair_map.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random/random.h"
#include "tools/html_page.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Buckets = std::vector<std::pair<int64_t, int64_t>>;

std::string MapOf(const std::vector<int64_t>& first, const std::vector<int64_t>& second,
                  const Buckets& buckets) {
  return SvgPairMap(first, MakeLengthAxis(first, 60), second, MakeLengthAxis(second, 60), buckets);
}

TEST(SvgPairMapTest, TellsHowOftenPairsOccur) {
  const std::string svg = MapOf({3, 3, 10}, {4, 4, 12}, {{3, 4}, {10, 12}});
  EXPECT_THAT(svg, HasSubstr("<title>3 and 4: 2 samples</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>10 and 12: 1 sample</title>"));
  EXPECT_THAT(svg, HasSubstr("class=\"strong halo\">1</text>"));
  EXPECT_THAT(svg, HasSubstr("class=\"strong halo\">2</text>"));
  EXPECT_THAT(svg, HasSubstr("Map of 3 pairs of lengths with the boxes of 2 buckets"));
}

TEST(SvgPairMapTest, BucketsBeyondAnAxisHaveNoCorner) {
  std::vector<int64_t> first(1000, 5), second(1000, 5);
  first.push_back(1000000);
  second.push_back(5);
  const std::string svg = MapOf(first, second, {{5, 5}, {1000000, 5}});
  EXPECT_THAT(svg, HasSubstr("class=\"strong halo\">1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"strong halo\">2</text>")));
}

TEST(SvgPairMapTest, NoLabelsOverlap) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomGenerator random(seed);
    const uint64_t longest = seed % 2 == 0 ? 60 : 5000000;
    std::vector<int64_t> first, second;
    Buckets buckets;
    for (int i = 0; i < 200; ++i) {
      first.push_back(static_cast<int64_t>(random.NextBelow(longest)));
      second.push_back(static_cast<int64_t>(1 + random.NextBelow(longest)));
      if (i % 4 == 0) buckets.emplace_back(first.back() + 1, second.back());
    }
    EXPECT_THAT(PageProblems(HtmlPage("t", MapOf(first, second, buckets))), IsEmpty())
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace cooper
