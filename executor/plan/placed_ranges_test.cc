#include "executor/plan/placed_ranges.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

struct Range {
  int64_t begin, size;
  int first, last;
};

// A reference implementation of FindPlace that looks at every range.
int64_t PlaceByLookingAtAll(std::vector<Range> placed, int first, int last, int64_t size,
                            int64_t alignment) {
  std::erase_if(placed, [&](const Range& r) { return r.last < first || r.first > last; });
  std::sort(placed.begin(), placed.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  int64_t end = 0, best = -1, best_gap = std::numeric_limits<int64_t>::max();
  for (const Range& r : placed) {
    const int64_t place = (end + alignment - 1) / alignment * alignment;
    if (const int64_t gap = r.begin - place; gap >= size && gap < best_gap) {
      best_gap = gap;
      best = place;
    }
    end = std::max(end, r.begin + r.size);
  }
  return best >= 0 ? best : (end + alignment - 1) / alignment * alignment;
}

TEST(PlacedRangesTest, TakesTheSmallestGapThatIsLargeEnough) {
  PlacedRanges placed;
  EXPECT_EQ(placed.FindPlace(0, 9, 10, 1), 0);
  placed.Insert(10, 10, 0, 9);
  placed.Insert(50, 10, 0, 4);
  placed.Insert(80, 10, 0, 9);
  EXPECT_EQ(placed.FindPlace(0, 9, 10, 1), 0);
  EXPECT_EQ(placed.FindPlace(3, 3, 20, 1), 60);
  EXPECT_EQ(placed.FindPlace(3, 3, 30, 1), 20);
  EXPECT_EQ(placed.FindPlace(5, 5, 20, 1), 20) << "the second is live no more";
  EXPECT_EQ(placed.FindPlace(0, 9, 31, 1), 90);
  EXPECT_EQ(placed.FindPlace(10, 12, 31, 1), 0);
  EXPECT_EQ(placed.FindPlace(3, 3, 16, 32), 64) << "at a multiple of 32";
  EXPECT_EQ(placed.FindPlace(3, 3, 17, 32), 32) << "does not fit at 64";
  EXPECT_EQ(placed.FindPlace(0, 9, 31, 64), 128);
}

// Compares FindPlace with the reference for ranges in the order of time and in random order.
TEST(PlacedRangesTest, AgreesWithLookingAtAll) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    RandomGenerator random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random.NextBelow(n)); };
    PlacedRanges placed;
    std::vector<Range> all;
    for (int i = 0; i < 600; ++i) {
      const int first = static_cast<int>(seed % 2 == 0 ? i / 3 : below(200));
      const int last = first + static_cast<int>(below(i % 5 == 0 ? 200 : 6));
      const int64_t size = 4 * (1 + below(i % 7 == 0 ? 640 : 64));
      const int64_t alignment = int64_t{1} << below(7);
      const int64_t begin = placed.FindPlace(first, last, size, alignment);
      ASSERT_EQ(begin, PlaceByLookingAtAll(all, first, last, size, alignment))
          << "seed " << seed << " " << i;
      // Sometimes the range lies elsewhere, which makes gaps and overlaps.
      const int64_t at = below(10) == 0 ? 64 * below(300) : begin;
      placed.Insert(at, size, first, last);
      all.push_back({at, size, first, last});
    }
  }
}

}  // namespace
}  // namespace cooper
