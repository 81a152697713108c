#include "tests/cuda_emulator/ptx/sector_cache.h"

#include <cstdint>
#include <list>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace cooper::ptx {
namespace {

constexpr int64_t kLineBytes = 128, kSetBytes = 16 * kLineBytes;

TEST(SectorCacheTest, WhatIsThereNeedNotBeReadAgain) {
  SectorCache cache(1 << 20);
  for (int i = 0; i < 3; ++i) {
    for (uint64_t sector = 0; sector < 1000; ++sector) cache.Read(sector);
  }
  EXPECT_EQ(cache.read_sectors(), 1000);
  EXPECT_EQ(cache.written_sectors(), 0);
}

TEST(SectorCacheTest, ALineHasFourSectorsEachOfItsOwn) {
  SectorCache cache(kSetBytes);
  cache.Read(4);
  cache.Read(6);
  EXPECT_EQ(cache.read_sectors(), 2);
  for (uint64_t sector = 4; sector < 8; ++sector) cache.Read(sector);
  EXPECT_EQ(cache.read_sectors(), 4);
}

TEST(SectorCacheTest, AWrittenSectorGoesToMemoryOnce) {
  SectorCache cache(1 << 20);
  for (int i = 0; i < 5; ++i) cache.Write(7);
  cache.Read(7);
  EXPECT_EQ(cache.read_sectors(), 0) << "all of it is there";
  EXPECT_EQ(cache.written_sectors(), 0);
  for (int i = 0; i < 2; ++i) cache.Flush();
  EXPECT_EQ(cache.written_sectors(), 1);
  cache.Read(7);
  EXPECT_EQ(cache.read_sectors(), 0) << "it is still there";
}

TEST(SectorCacheTest, RangesTouchWholeSectors) {
  SectorCache cache(1 << 20);
  const auto at = [](uint64_t address) { return reinterpret_cast<const void*>(address); };
  cache.ReadRange(at(31), 2);
  EXPECT_EQ(cache.read_sectors(), 2);
  cache.WriteRange(at(64), 32);
  cache.WriteRange(at(96), 0);
  cache.Flush();
  EXPECT_EQ(cache.written_sectors(), 1);
}

TEST(SectorCacheTest, ALoopOverMoreThanTheCacheFindsNothing) {
  SectorCache cache(kSetBytes);
  for (int i = 0; i < 2; ++i) {
    for (uint64_t line = 0; line < 17; ++line) cache.Write(4 * line);
  }
  EXPECT_EQ(cache.written_sectors(), 2 * 17 - 16);
}

TEST(SectorCacheTest, WhatIsStreamedTakesNoOthersPlace) {
  SectorCache cache(kSetBytes);
  for (uint64_t line = 0; line < 15; ++line) cache.Write(4 * line);
  for (uint64_t line = 100; line < 200; ++line) {
    cache.Read(4 * line, /*streams=*/true);
    cache.Read(4 * line + 1, /*streams=*/true);
  }
  EXPECT_EQ(cache.read_sectors(), 200);
  EXPECT_EQ(cache.written_sectors(), 0) << "the 15 lines are still there";
  for (uint64_t line = 0; line < 15; ++line) cache.Read(4 * line);
  EXPECT_EQ(cache.read_sectors(), 200);
}

TEST(SectorCacheTest, FreeLinesAreTakenBeforeStreamedOnes) {
  SectorCache cache(kSetBytes);
  cache.Read(0, /*streams=*/true);
  for (uint64_t line = 1; line < 16; ++line) cache.Read(4 * line);
  cache.Read(0, /*streams=*/true);
  EXPECT_EQ(cache.read_sectors(), 16);
  cache.Read(4 * 16);
  cache.Read(0);
  EXPECT_EQ(cache.read_sectors(), 18) << "it was the next to go";
}

// Compares one set with a simple list in LRU order.
TEST(SectorCacheTest, GivesUpTheLineUsedLongestAgo) {
  SectorCache cache(kSetBytes);
  std::list<uint64_t> lines;  // most recently used first
  std::set<uint64_t> present, dirty;
  int64_t read = 0, written = 0;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t sector = random() % 96, line = sector / 4;
    const bool write = random() % 3 == 0;
    lines.remove(line);
    lines.push_front(line);
    if (lines.size() > 16) {
      for (uint64_t s = 4 * lines.back(); s < 4 * lines.back() + 4; ++s) {
        written += static_cast<int64_t>(dirty.erase(s));
        present.erase(s);
      }
      lines.pop_back();
    }
    if (present.insert(sector).second && !write) ++read;
    if (write) dirty.insert(sector);
    write ? cache.Write(sector) : cache.Read(sector);
    ASSERT_EQ(cache.read_sectors(), read) << "access " << i;
    ASSERT_EQ(cache.written_sectors(), written) << "access " << i;
  }
}

}  // namespace
}  // namespace cooper::ptx
