#include "io/streams/sample_pool.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

Sample SampleOf(const std::vector<int32_t>& words, float weight) {
  Sample sample;
  sample.Clear(2);
  sample.Set<int32_t>(0, words);
  sample.Set<float>(1, {weight});
  return sample;
}

std::vector<SampleField> Fields() {
  return {SampleField(), {.dtype = DType::kFloat32, .step = {}, .is_sequence = false}};
}

std::vector<int32_t> WordsOf(const SamplePool& pool, SamplePool::Handle handle, bool and_next) {
  const auto* words = reinterpret_cast<const int32_t*>(pool.data(handle, 0));
  return {words, words + (and_next ? pool.steps_and_next(handle, 0) : pool.steps(handle, 0))};
}

TEST(SamplePoolTest, HoldsWhatWasAddedWithinBoundedMemory) {
  ForRandomCases(20, [](RandomGenerator& random) {
    SamplePool pool(Fields());
    std::map<SamplePool::Handle, std::vector<int32_t>> held;
    const size_t most = 1 + random.NextBelow(300);
    for (int32_t i = 0; i < 5000; ++i) {
      if (held.size() < most) {
        const std::vector<int32_t> words(random.NextBelow(100), i);
        const auto handle = pool.Add(SampleOf(words, static_cast<float>(i)), 0, {100}, false,
                                     {.place = {.ordinal = i}});
        ASSERT_TRUE(held.emplace(handle, words).second) << "the handle is in use";
      } else {
        auto it = held.begin();
        std::advance(it, random.NextBelow(held.size()));
        ASSERT_EQ(WordsOf(pool, it->first, true), it->second);
        ASSERT_EQ(pool.length(it->first), std::ssize(it->second));
        const float weight = *reinterpret_cast<const float*>(pool.data(it->first, 1));
        ASSERT_EQ(weight, static_cast<float>(pool.id(it->first).place.ordinal));
        pool.Remove(it->first);
        held.erase(it);
      }
      ASSERT_EQ(pool.size(), std::ssize(held));
    }
    int64_t bytes = 0;
    for (const auto& [handle, words] : held) bytes += 2 * 16 + (std::ssize(words) + 1) / 2 * 8 + 8;
    EXPECT_EQ(pool.bytes(), bytes);
  });
}

TEST(SamplePoolTest, CutsSequences) {
  const struct {
    int64_t begin, most;
    bool and_next;
    std::vector<int32_t> words, and_following;
  } cases[] = {
      {0, 5, true, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}},
      {0, 2, true, {1, 2}, {1, 2, 3}},
      {0, 2, false, {1, 2}, {1, 2}},
      {2, 2, true, {3, 4}, {3, 4, 5}},
      {4, 2, true, {5}, {5}},
  };
  SamplePool pool(Fields());
  for (const auto& c : cases) {
    const auto handle = pool.Add(SampleOf({1, 2, 3, 4, 5}, 1), c.begin, {c.most}, c.and_next, {});
    EXPECT_EQ(WordsOf(pool, handle, false), c.words);
    EXPECT_EQ(WordsOf(pool, handle, true), c.and_following);
    EXPECT_EQ(pool.length(handle), std::ssize(c.words));
  }
}

TEST(SamplePoolTest, RefusesSamplesThatDoNotFitTheirFields) {
  const SamplePool pool(
      {SampleField(), {.dtype = DType::kFloat32, .step = {2, 3}, .is_sequence = false}});
  const std::vector<int32_t> words = {1, 2};
  const std::vector<float> six(6), five(5);
  Sample sample;
  EXPECT_THAT(pool.ExtentsOf(sample), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "the sample has 0 fields, the source says 2"));
  sample.Clear(2);
  sample.Set<float>(1, five);
  EXPECT_THAT(pool.ExtentsOf(sample), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "field 1 of the sample has 5 elements, expected 6"));
  sample.Set<int32_t>(1, words);
  EXPECT_THAT(pool.ExtentsOf(sample),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "field 1 of the sample is of int32, the source says float32"));
  sample.Set<int32_t>(0, words);
  sample.Set<float>(1, six);
  EXPECT_THAT(pool.ExtentsOf(sample), IsOkAndHolds(BucketKey::Tuple({2})));
}

}  // namespace
}  // namespace cooper
