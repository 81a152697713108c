#include "io/batch/padded_copy.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// Returns the elements of a row-major row of `extents`, filled with -1, after the sample 1, 2, 3,
// ... has been copied into it.
std::vector<float> Padded(const Shape& sample, const Shape& extents, int64_t shift = 0) {
  std::vector<int32_t> in(static_cast<size_t>(sample.num_elements()));
  std::iota(in.begin(), in.end(), 1);
  std::vector<float> out(static_cast<size_t>(extents.num_elements()), -1);
  std::vector<int64_t> strides;
  for (int a = 0; a < extents.rank(); ++a) {
    strides.push_back(extents.Product(a + 1, extents.rank()));
  }
  const PaddedCopy copy(DType::kInt32, DType::kFloat32);
  copy(in.data(), sample, shift,
       {.data = out.data(), .extents = extents.dims(), .strides = strides});
  if (sample.rank() == 1) {
    std::vector<float> again(out.size(), -1);
    copy.Sequence(in.data(), sample[0], shift,
                  {.data = again.data(), .extents = extents.dims(), .strides = strides});
    EXPECT_EQ(again, out);
  }
  return out;
}

TEST(PaddedCopyTest, PadsAndCuts) {
  EXPECT_THAT(Padded({}, {}), ElementsAre(1));
  EXPECT_THAT(Padded({2}, {4}), ElementsAre(1, 2, -1, -1));
  EXPECT_THAT(Padded({4}, {2}), ElementsAre(1, 2));
  EXPECT_THAT(Padded({0}, {2}), ElementsAre(-1, -1));
  EXPECT_THAT(Padded({2, 2}, {3, 3}), ElementsAre(1, 2, -1, 3, 4, -1, -1, -1, -1));
  EXPECT_THAT(Padded({2, 3}, {3, 2}), ElementsAre(1, 2, 4, 5, -1, -1));
  EXPECT_THAT(Padded({2, 2}, {3, 2}), ElementsAre(1, 2, 3, 4, -1, -1));
  EXPECT_THAT(Padded({2, 1, 2}, {2, 2, 2}), ElementsAre(1, 2, -1, -1, 3, 4, -1, -1));
}

TEST(PaddedCopyTest, ShiftsWhatIsLeftAfterTheCut) {
  EXPECT_THAT(Padded({3}, {4}, 1), ElementsAre(2, 3, -1, -1));
  EXPECT_THAT(Padded({3}, {2}, 1), ElementsAre(2, -1));
  EXPECT_THAT(Padded({1}, {2}, 1), ElementsAre(-1, -1));
  EXPECT_THAT(Padded({1}, {2}, 5), ElementsAre(-1, -1));
  EXPECT_THAT(Padded({3, 2}, {3, 3}, 1), ElementsAre(3, 4, -1, 5, 6, -1, -1, -1, -1));
}

TEST(PaddedCopyTest, FollowsStrides) {
  // Copies a sample (2, 3) into row 1 of a batch (time 3, batch 2, features 3).
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> out(18, 0);
  const std::vector<int64_t> extents = {3, 3}, strides = {6, 1};
  PaddedCopy(DType::kFloat32, DType::kInt64)(
      in.data(), {2, 3}, 0, {.data = out.data() + 3, .extents = extents, .strides = strides});
  EXPECT_THAT(out, ElementsAre(0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace cooper
