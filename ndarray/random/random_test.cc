#include "ndarray/random/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/philox.h"
#include "ndarray/random/philox_lanes.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// The known answers of Random123, the generator's first implementation, for counters and keys of
// zeros, of ones, and of digits of pi.
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_THAT(Philox(0, 0).At(0), ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(Philox(~uint64_t{0}, ~uint64_t{0}).At(~uint64_t{0}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(Philox(0x299f31d0a4093822u, 0x0370734413198a2eu).At(0x85a308d3243f6a88u),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(PhiloxTest, LanesHaveTheWordsOfTheirPositions) {
  const Philox philox(0x299f31d0a4093822u, 0x0370734413198a2eu);
  for (const uint64_t position : {uint64_t{0}, uint64_t{0xfffffff0u}, ~uint64_t{0} - 5}) {
    const PhiloxLanes lanes(philox, position);
    for (int i = 0; i < PhiloxLanes::kLanes; ++i) {
      EXPECT_THAT(philox.At(position + i), ElementsAre(lanes.words[0][i], lanes.words[1][i],
                                                       lanes.words[2][i], lanes.words[3][i]));
    }
  }
}

TEST(PhiloxTest, UniformIsInRangeAndEvenlySpread) {
  const Philox philox(1, 2);
  std::array<int, 16> bins = {};
  constexpr int kDraws = 160000;
  for (int i = 0; i < kDraws; ++i) {
    const float u = philox.UniformAt(i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<size_t>(u * 16)];
  }
  // Chi squared with 15 degrees of freedom exceeds 44 once in ten thousand; the seed is fixed.
  double chi_squared = 0;
  for (int count : bins) chi_squared += std::pow(count - kDraws / 16.0, 2) / (kDraws / 16.0);
  EXPECT_LT(chi_squared, 44);
}

TEST(RandomGeneratorTest, StateIsSavedAndRestored) {
  RandomGenerator generator(7, 3);
  for (int i = 0; i < 5; ++i) generator.NextUint32();
  RandomGenerator restored(generator.state());
  EXPECT_EQ(generator.state().position, 5u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(restored.NextUint64(), generator.NextUint64());
  EXPECT_EQ(restored.state(), generator.state());
}

TEST(RandomGeneratorTest, SeedsAndStreamsDiffer) {
  std::set<uint64_t> firsts;
  for (uint64_t seed : {0, 1, 2}) {
    for (uint64_t stream : {0, 1, 2}) firsts.insert(RandomGenerator(seed, stream).NextUint64());
  }
  EXPECT_EQ(firsts.size(), 9u);
}

TEST(RandomGeneratorTest, NextBelowReachesEveryValueEvenly) {
  RandomGenerator generator(11);
  std::array<int, 7> counts = {};
  for (int i = 0; i < 70000; ++i) ++counts.at(generator.NextBelow(7));
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
  EXPECT_EQ(RandomGenerator(1).NextBelow(1), 0u);
  const uint64_t bound = (uint64_t{1} << 63) + 1;
  for (int i = 0; i < 100; ++i) EXPECT_LT(generator.NextBelow(bound), bound);
}

TEST(RandomGeneratorTest, UniformAndNormalHaveTheirMoments) {
  RandomGenerator generator(5);
  constexpr int kDraws = 100000;
  double uniform = 0, normal = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = generator.NextUniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    const double n = generator.NextNormal();
    ASSERT_TRUE(std::isfinite(n));
    normal += n;
    squares += n * n;
  }
  // Five standard errors each.
  EXPECT_NEAR(uniform / kDraws, 0.5, 5 * std::sqrt(1 / 12.0 / kDraws));
  EXPECT_NEAR(normal / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

TEST(RandomGeneratorTest, PermutationHasEveryNumberOnceInAnyPlace) {
  RandomGenerator generator(3);
  std::array<int, 4> first = {};
  for (int i = 0; i < 40000; ++i) {
    std::vector<int64_t> values = generator.Permutation(4);
    ++first.at(static_cast<size_t>(values[0]));
    std::sort(values.begin(), values.end());
    ASSERT_THAT(values, ElementsAre(0, 1, 2, 3));
  }
  for (int count : first) EXPECT_NEAR(count, 10000, 450);
  EXPECT_TRUE(generator.Permutation(0).empty());
}

}  // namespace
}  // namespace cooper
