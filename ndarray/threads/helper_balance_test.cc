#include "ndarray/threads/helper_balance.h"

#include <cstdint>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper::internal_parallel {
namespace {

constexpr int64_t kUs = 1000, kMs = 1000 * kUs;

// Returns the statistics of a loop of which each of two threads has done half, in `time` each.
SharedLoop Even(int64_t time) {
  return {.own_ranges = 2, .own_time = time, .others_ranges = 2, .others_time = time};
}

// Returns the statistics of a loop in which a helper was preempted for `stop` in the middle of its
// piece.
SharedLoop Stopped(int64_t time, int64_t stop) {
  SharedLoop loop = Even(time);
  loop.others_time += stop;
  loop.waited = stop;
  return loop;
}

TEST(SharedLoopTest, GainsWhatTheCallerWouldHaveNeeded) {
  EXPECT_EQ(Even(50 * kUs).gained(), 50 * kUs);
  EXPECT_EQ(Stopped(50 * kUs, 4 * kMs).gained(), 50 * kUs);
  // The helper had page faults, which the caller would have had.
  SharedLoop faults = Stopped(50 * kUs, 4 * kMs);
  faults.has_faults = true;
  EXPECT_EQ(faults.gained(), 50 * kUs + 4 * kMs);
  // The caller was preempted, and the helper did its piece meanwhile.
  EXPECT_EQ((SharedLoop{.own_ranges = 1, .own_time = 4 * kMs, .others_ranges = 1, .others_time = 9})
                .gained(),
            9);
  // Pieces of different cost.
  EXPECT_EQ((SharedLoop{.own_ranges = 1,
                        .own_time = 5 * kMs,
                        .others_ranges = 1,
                        .others_time = 9 * kMs,
                        .waited = 4 * kMs})
                .gained(),
            9 * kMs);
  // The helpers took all pieces first.
  EXPECT_EQ((SharedLoop{.others_ranges = 4, .others_time = 7, .waited = 7}).gained(), 7);
}

TEST(HelperBalanceTest, SharesWhileItGains) {
  HelperBalance balance;
  int64_t now = 0;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(balance.Shares(now)) << i;
    now += 60 * kUs;
    SharedLoop loop = Even(50 * kUs);
    loop.waited = 10 * kUs;
    balance.Add(loop, now);
  }
  // Pieces of different cost are not counted as a loss.
  for (int i = 0; i < 1000; ++i) {
    balance.Add({.own_ranges = 1,
                 .own_time = 100 * kUs,
                 .others_ranges = 1,
                 .others_time = 2 * kMs,
                 .waited = 1900 * kUs},
                now);
    ASSERT_TRUE(balance.Shares(now)) << i;
  }
}

TEST(HelperBalanceTest, OldGainsDoNotPayForLosses) {
  HelperBalance balance;
  for (int i = 0; i < 10000; ++i) balance.Add(Even(1 * kMs), 1);
  balance.Add(Stopped(50 * kUs, 4 * kMs), 1);
  EXPECT_FALSE(balance.Shares(2));
  {
    const ShareAll all;
    EXPECT_TRUE(balance.Shares(2));
  }
  EXPECT_FALSE(balance.Shares(2));
  EXPECT_TRUE(balance.Shares(1 + HelperBalance::kMinPause));
}

// Each time that sharing is tried again and loses, the caller runs alone for longer; once sharing
// gains again, the pause shrinks back to the minimum.
TEST(HelperBalanceTest, TriesAgainLessAndLessOften) {
  HelperBalance balance;
  int64_t now = 0;
  const auto pause_after_loss = [&] {
    EXPECT_TRUE(balance.Shares(now));
    balance.Add(Stopped(50 * kUs, 4 * kMs), now);
    const int64_t start = now;
    while (!balance.Shares(now)) now += 1 * kMs;
    return now - start;
  };
  for (const int64_t ms : {4, 16, 64, 256, 1024, 2048, 2048, 2048}) {
    EXPECT_EQ(pause_after_loss(), ms * kMs);
  }
  for (const int64_t ms : {512, 128, 32, 8, 4, 4}) {
    for (int i = 0; i < 1000; ++i) balance.Add(Even(1 * kMs), now);
    EXPECT_EQ(pause_after_loss(), ms * kMs);
  }
}

TEST(HelperBalanceTest, EachThreadHasItsOwn) {
  HelperBalance* const own = &HelperBalance::OfThisThread();
  EXPECT_EQ(own, &HelperBalance::OfThisThread());
  std::thread([own] { EXPECT_NE(own, &HelperBalance::OfThisThread()); }).join();
  EXPECT_GT(HelperBalance::Now(), 0);
}

}  // namespace
}  // namespace cooper::internal_parallel
