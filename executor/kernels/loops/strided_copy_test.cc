#include "executor/kernels/loops/strided_copy.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/float16.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Level {
  int64_t extent, src, dst;
};

StridedLoop LoopOf(const std::vector<Level>& levels) {
  StridedLoop loop;
  for (const Level& l : levels) loop.Add(l.extent, l.src, l.dst);
  return loop;
}

// The reference: copies one element after the other.
void Plain(const std::vector<Level>& levels, size_t depth, bool add, const int32_t* src,
           int32_t* dst) {
  if (depth == levels.size()) {
    *dst = *src + (add ? *dst : 0);
    return;
  }
  for (int64_t i = 0; i < levels[depth].extent; ++i) {
    Plain(levels, depth + 1, add, src + i * levels[depth].src, dst + i * levels[depth].dst);
  }
}

TEST(StridedLoopTest, MergesNeighboursThatFormOneLoop) {
  EXPECT_EQ(LoopOf({{2, 12, 12}, {3, 4, 4}, {4, 1, 1}}).rank(), 1);
  EXPECT_EQ(LoopOf({{2, 12, 24}, {3, 4, 4}, {4, 1, 1}}).rank(), 2);
  EXPECT_EQ(LoopOf({{2, 5, 3}, {1, 9, 9}, {4, 1, 1}}).rank(), 2);
  EXPECT_TRUE(LoopOf({{2, 5, 3}, {0, 1, 1}}).empty());
}

TEST(StridedCopyTest, IsTheSameAsPlainLoops) {
  const std::vector<std::vector<Level>> kCases = {
      {},
      {{7, 1, 1}},
      {{40, 1, 50}, {50, 40, 1}},               // a transposition
      {{32, 1, 48}, {48, 32, 1}},               // of whole tiles
      {{32, 1, -48}, {48, 32, 1}},              // with a reversed axis
      {{2, 800, 4}, {50, 1, 16}, {16, 50, 1}},  // of rows of one tile, into wider ones
      {{3, 1, 400}, {20, 60, 20}, {20, 3, 1}},  // with another axis around it
      {{5, 100, 20}, {20, 1, 1}},               // rows out of wider rows
      {{5, 20, 100}, {20, 1, 1}},               // and into them
      {{6, 10, 10}, {10, -1, 1}},               // reversed
      {{4, 0, 3}, {3, 1, 1}},                   // repeated
      {{300, 300, 300}, {150, 2, 2}},           // enough for several threads
      {{3, 30000, 31000}, {30000, 1, 1}},       // few long rows
      {{40, 1, 2}, {2, 40, 1}},                 // interleaved
      {{40, 2, 1}, {2, 1, 40}},                 // and taken apart
      {{2, 150, 200}, {50, 1, 3}, {3, 50, 1}},  // three, with another axis around them
      {{2, 150, 200}, {3, 1, 50}, {50, 3, 1}},
      {{9000, 1, 4}, {4, 9000, 1}},              // four, enough for several threads
      {{50, 1, 4}, {4, 0, 1}},                   // four times the same
      {{20, 150, 150}, {50, -3, 3}, {3, 1, 1}},  // rows of reversed groups
      {{9000, 6, 4}, {4, 1, 1}},
  };
  std::vector<int32_t> src(100000);
  std::iota(src.begin(), src.end(), 1);
  ForEachCpuLevel([&] {
    for (int threads : {1, 3}) {
      SetNumThreads(threads);
      for (bool add : {false, true}) {
        for (size_t i = 0; i < kCases.size(); ++i) {
          std::vector<int32_t> expected(100000, 5), actual = expected;
          const int32_t* from = src.data() + 147;
          const int64_t first = 2000;  // strides may lead back from it
          Plain(kCases[i], 0, add, from, expected.data() + first);
          COOPER_EXPECT_OK(StridedCopy(LoopOf(kCases[i]), DType::kInt32,
                                       add ? WriteReq::kAdd : WriteReq::kWrite, from,
                                       actual.data() + first));
          EXPECT_EQ(actual, expected) << "case " << i << ", add " << add << ", threads " << threads;
        }
      }
    }
  });
  SetNumThreads(0);
}

TEST(StridedCopyTest, SumsWhereTheDestinationStays) {
  const std::vector<float> src = {1, 2, 3, 4, 5, 6};
  std::vector<float> dst = {10, 20};
  COOPER_EXPECT_OK(StridedCopy(LoopOf({{3, 2, 0}, {2, 1, 1}}), DType::kFloat32, WriteReq::kAdd,
                               src.data(), dst.data()));
  EXPECT_THAT(dst, ElementsAre(19, 32));
}

TEST(StridedCopyTest, AddsHalvesInFloat) {
  const Float16 src[] = {Float16(1.5f), Float16(-2)};
  Float16 dst[] = {Float16(1), Float16(0.25f)};
  COOPER_EXPECT_OK(StridedCopy(LoopOf({{2, 1, 1}}), DType::kFloat16, WriteReq::kAdd, src, dst));
  EXPECT_EQ(static_cast<float>(dst[0]), 2.5f);
  EXPECT_EQ(static_cast<float>(dst[1]), -1.75f);
}

TEST(StridedCopyTest, NullAndEmptyTouchNothing) {
  COOPER_EXPECT_OK(
      StridedCopy(LoopOf({{2, 1, 1}}), DType::kFloat32, WriteReq::kNull, nullptr, nullptr));
  COOPER_EXPECT_OK(
      StridedCopy(LoopOf({{0, 1, 1}}), DType::kFloat32, WriteReq::kWrite, nullptr, nullptr));
}

TEST(StridedCopyTest, TooManyStridesAreAnError) {
  StridedLoop loop;
  for (int i = 0; i <= StridedLoop::kMaxRank; ++i) loop.Add(2, 100 - i, 1);
  float element = 0;
  EXPECT_THAT(StridedCopy(loop, DType::kFloat32, WriteReq::kWrite, &element, &element),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("more than 16 strides")));
}

}  // namespace
}  // namespace cooper
