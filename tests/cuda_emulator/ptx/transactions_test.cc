#include "tests/cuda_emulator/ptx/transactions.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda_emulator/ptx/lanes.h"

namespace cooper::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<uint64_t> Strided(uint64_t first, uint64_t stride) {
  std::vector<uint64_t> addresses(kLanes);
  for (uint64_t i = 0; i < kLanes; ++i) addresses[i] = first + i * stride;
  return addresses;
}

TEST(TransactionsTest, Sectors) {
  EXPECT_THAT(SectorsOf(Strided(0, 4).data(), kAllLanes, 4), SizeIs(4));
  EXPECT_THAT(SectorsOf(Strided(16, 4).data(), kAllLanes, 4), SizeIs(5));
  EXPECT_THAT(SectorsOf(Strided(0, 0).data(), kAllLanes, 4), SizeIs(1));
  EXPECT_THAT(SectorsOf(Strided(0, 128).data(), kAllLanes, 4), SizeIs(32));
  EXPECT_THAT(SectorsOf(Strided(0, 16).data(), kAllLanes, 16), SizeIs(16));
  EXPECT_THAT(SectorsOf(Strided(96, 128).data(), 0x3, 4), ElementsAre(3, 7));
}

TEST(TransactionsTest, Wavefronts) {
  struct Case {
    uint64_t stride;
    int bytes;
    int count;
    int least;
  };
  const Case kCases[] = {
      {4, 4, 1, 1},     // one word in each bank
      {0, 4, 1, 1},     // all lanes read one word
      {8, 4, 2, 1},     // every second bank
      {128, 4, 32, 1},  // one bank
      {132, 4, 1, 1},   // a padded column
      {1, 1, 1, 1},     // bytes of 8 words
      {8, 8, 2, 2},     // half a warp at a time
      {16, 16, 4, 4},   // a quarter
      {256, 8, 32, 2},
  };
  for (const Case& c : kCases) {
    const Wavefronts wavefronts = CountWavefronts(Strided(0, c.stride).data(), kAllLanes, c.bytes);
    EXPECT_EQ(wavefronts.count, c.count) << c.stride << " " << c.bytes;
    EXPECT_EQ(wavefronts.least, c.least) << c.stride << " " << c.bytes;
  }
  EXPECT_EQ(CountWavefronts(Strided(0, 128).data(), 0x7, 4).count, 3);
}

}  // namespace
}  // namespace cooper::ptx
