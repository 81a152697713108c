#include "tests/cuda_emulator/ptx/race_log.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"

namespace cooper::ptx {
namespace {

constexpr uint64_t kPlace = 0x1000;

bool Read(RaceLog& log, int thread, uint64_t place = kPlace, int bytes = 4) {
  return !log.Access(place, bytes, thread, false, false, 1);
}
bool Write(RaceLog& log, int thread, uint64_t place = kPlace, int bytes = 4) {
  return !log.Access(place, bytes, thread, true, false, 2);
}

TEST(RaceLogTest, NamesTheOther) {
  RaceLog log(64);
  EXPECT_TRUE(Write(log, 3));
  const std::optional<Conflict> conflict = log.Access(kPlace, 4, 40, false, false, 9);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->thread, 3);
  EXPECT_TRUE(conflict->write);
  EXPECT_EQ(conflict->source, 2);
}

TEST(RaceLogTest, BlockBarriersOrderAll) {
  RaceLog log(64);
  EXPECT_TRUE(Write(log, 3));
  log.BlockBarrier();
  EXPECT_TRUE(Read(log, 40));
  EXPECT_TRUE(Read(log, 41));
  EXPECT_FALSE(Write(log, 41));  // 40 has read it since
}

TEST(RaceLogTest, CollectivesOrderTheirLanes) {
  RaceLog log(64);
  EXPECT_TRUE(Write(log, 3));
  log.WarpSync(0, 0x18, false);  // lanes 3 and 4
  EXPECT_TRUE(Read(log, 4));
  EXPECT_FALSE(Read(log, 5));
  EXPECT_FALSE(Read(log, 36));
}

TEST(RaceLogTest, CollectivesAreTransitive) {
  RaceLog log(32);
  EXPECT_TRUE(Write(log, 0));
  log.WarpSync(0, 0b0011, false);
  log.WarpSync(0, 0b0110, false);
  EXPECT_TRUE(Read(log, 2));
  EXPECT_FALSE(Read(log, 3));
}

TEST(RaceLogTest, WhatComesAfterACollectiveIsNotOrdered) {
  RaceLog log(32);
  log.WarpSync(0, 0xffffffff, true);
  EXPECT_TRUE(Write(log, 0));
  EXPECT_FALSE(Read(log, 1));
}

TEST(RaceLogTest, PartialBarriersOrderTheirWarps) {
  RaceLog log(128);
  EXPECT_TRUE(Write(log, 3));
  log.PartialBarrier(0b0011);
  EXPECT_TRUE(Read(log, 40));
  EXPECT_FALSE(Read(log, 70));
  log.PartialBarrier(0b0110);
  EXPECT_TRUE(Read(log, 71));
  EXPECT_FALSE(Read(log, 100));
}

TEST(RaceLogTest, StrongAccessesDoNotConflict) {
  RaceLog log(64);
  EXPECT_FALSE(log.Access(kPlace, 4, 0, true, true, 1).has_value());
  EXPECT_FALSE(log.Access(kPlace, 4, 40, true, true, 1).has_value());
  EXPECT_FALSE(Read(log, 1));
}

TEST(RaceLogTest, OwnWeakWriteIsNotHiddenByAStrongOne) {
  RaceLog log(64);
  EXPECT_TRUE(Write(log, 0));
  EXPECT_FALSE(log.Access(kPlace, 4, 0, true, true, 1).has_value());
  EXPECT_TRUE(log.Access(kPlace, 4, 40, true, true, 1).has_value());
}

TEST(RaceLogTest, BytesAreApart) {
  RaceLog log(64);
  EXPECT_TRUE(Write(log, 0, kPlace, 1));
  EXPECT_TRUE(Write(log, 40, kPlace + 1, 1));
  EXPECT_TRUE(Write(log, 41, kPlace + 2, 2));
  EXPECT_FALSE(Read(log, 1, kPlace, 4));
  EXPECT_TRUE(Write(log, 5, kPlace + 64, 8));
  EXPECT_FALSE(Read(log, 6, kPlace + 71, 1));  // the whole word was written
}

TEST(RaceLogTest, TwoReadersAreKept) {
  RaceLog log(128);
  EXPECT_TRUE(Read(log, 0));
  EXPECT_TRUE(Read(log, 40));
  EXPECT_FALSE(Write(log, 0));
}

}  // namespace
}  // namespace cooper::ptx
