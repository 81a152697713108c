#include "ndarray/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/available_cpus.h"
#include "ndarray/threads/helper_balance.h"
#include "oneapi/tbb/parallel_for.h"
#include "oneapi/tbb/task_arena.h"

namespace cooper {
namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Returns the ranges that `loop` calls its function with, in order.
template <typename Loop>
Ranges RangesOfLoop(const Loop& loop) {
  std::mutex mutex;
  Ranges ranges;
  loop([&](int64_t begin, int64_t end) {
    std::lock_guard<std::mutex> lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

Ranges RangesOf(int64_t n, int64_t grain) {
  return RangesOfLoop([=](const auto& fn) { ParallelFor(n, grain, fn); });
}

Ranges PiecesOf(int64_t n, int64_t grain, int64_t piece) {
  return RangesOfLoop([=](const auto& fn) { ParallelForRanges(n, grain, piece, fn); });
}

TEST(ParallelForTest, RangesCoverEverythingOnce) {
  const internal_parallel::ShareAll all;
  for (int threads : {1, 2, 3, 8}) {
    SetNumThreads(threads);
    for (int64_t n : {1, 2, 7, 100, 1001}) {
      for (int64_t grain : {0, 1, 10, 1000000}) {
        const Ranges ranges = RangesOf(n, grain);
        ASSERT_FALSE(ranges.empty());
        EXPECT_LE(static_cast<int>(ranges.size()), threads);
        EXPECT_EQ(ranges.front().first, 0);
        EXPECT_EQ(ranges.back().second, n);
        for (size_t i = 0; i < ranges.size(); ++i) {
          EXPECT_LT(ranges[i].first, ranges[i].second);
          if (i > 0) {
            EXPECT_EQ(ranges[i].first, ranges[i - 1].second);
          }
          // A further thread needs at least `grain` items.
          if (ranges.size() > 1) {
            EXPECT_GE(ranges[i].second - ranges[i].first, grain);
          }
        }
        EXPECT_EQ(RangesOf(n, grain), ranges);
      }
    }
  }
}

TEST(ParallelForTest, NothingToDo) {
  EXPECT_TRUE(RangesOf(0, 1).empty());
  EXPECT_TRUE(RangesOf(-3, 1).empty());
}

TEST(ParallelForPiecesTest, PiecesCoverEverythingOnce) {
  const internal_parallel::ShareAll all;
  for (int threads : {1, 2, 3, 8}) {
    SetNumThreads(threads);
    for (int64_t n : {1, 2, 7, 100, 1001}) {
      for (int64_t grain : {0, 1, 10, 1000000}) {
        for (int64_t piece : {0, 1, 5, 2000}) {
          const Ranges pieces = PiecesOf(n, grain, piece);
          ASSERT_FALSE(pieces.empty());
          EXPECT_EQ(pieces.front().first, 0);
          EXPECT_EQ(pieces.back().second, n);
          for (size_t i = 0; i < pieces.size(); ++i) {
            EXPECT_LT(pieces[i].first, pieces[i].second);
            if (i > 0) {
              EXPECT_EQ(pieces[i].first, pieces[i - 1].second);
            }
            if (pieces.size() > 1) {
              EXPECT_GE(pieces[i].second - pieces[i].first, std::min(grain, piece));
            }
          }
          EXPECT_EQ(PiecesOf(n, grain, piece), pieces);
        }
      }
    }
  }
  EXPECT_TRUE(PiecesOf(0, 1, 1).empty());
}

// The first piece waits for all others, including those of its own thread's range, so that another
// thread has to run them.
TEST(ParallelForPiecesTest, ThreadsTakeOverPieces) {
  SetNumThreads(2);
  const size_t num_pieces = PiecesOf(8, 1, 1).size();
  if (AvailableCpus() < 2) GTEST_SKIP() << "no processor for another thread";
  const internal_parallel::ShareAll all;
  std::atomic<size_t> done = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  ParallelForRanges(8, 1, 1, [&](int64_t begin, int64_t) {
    while (begin == 0 && done < num_pieces - 1 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    if (begin == 0) {
      EXPECT_EQ(done, num_pieces - 1) << "nobody else came";
    }
    ++done;
  });
  EXPECT_EQ(done, num_pieces);
}

// Simulates long waits for helpers, as on a busy machine: the caller then runs the loop alone. The
// pieces stay those of a shared loop, since the rounding of sums may depend on them.
TEST(ParallelForPiecesTest, ACallerWhomOthersCostRunsTheSamePiecesAlone) {
  std::thread([] {
    using internal_parallel::HelperBalance;
    SetNumThreads(4);
    const Ranges shared = [] {
      const internal_parallel::ShareAll all;
      return PiecesOf(100, 1, 1);
    }();
    for (int i = 0; i < 8; ++i) {
      HelperBalance::OfThisThread().Add({.waited = 10'000'000}, HelperBalance::Now());
    }
    Ranges pieces;
    const auto self = std::this_thread::get_id();
    ParallelForRanges(100, 1, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(RangesOf(4, 1), Ranges({{0, 4}})) << "within a loop there is one range";
      pieces.emplace_back(begin, end);
    });
    EXPECT_GT(pieces.size(), 4u);
    EXPECT_EQ(pieces, shared);
  }).join();
}

TEST(ParallelForTest, MayBeNested) {
  SetNumThreads(4);
  std::vector<int> counts(64, 0);
  ParallelFor(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ParallelFor(8, 1, [&](int64_t b, int64_t e) {
        for (int64_t j = b; j < e; ++j) ++counts[static_cast<size_t>(i * 8 + j)];
      });
    }
  });
  EXPECT_THAT(counts, testing::Each(1));
}

TEST(NumThreadsTest, IsAtLeastOne) {
  SetNumThreads(0);
  EXPECT_GE(NumThreads(), 1);
}

// A waiting loop starts no other oneTBB task of its caller, which would run in the middle of the
// caller's work.
TEST(ParallelForTest, RunsNothingOfItsCallersWhileItWaits) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the race detector does not see how oneTBB hands over the loop below";
#endif
  std::atomic<int> within = 0;
  tbb::task_arena arena(8);
  arena.execute([&] {
    tbb::parallel_for(0, 800, [&](int) {
      thread_local bool is_running = false;
      within += is_running ? 1 : 0;
      const bool was_running = std::exchange(is_running, true);
      SetNumThreads(4);
      ParallelForPlain(4, 1, [](int64_t, int64_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      });
      is_running = was_running;
    });
  });
  EXPECT_EQ(within, 0);
}

// If a loop's caller is a oneTBB task that is cancelled, neither the running loop nor the next one
// is cancelled with it.
TEST(ParallelForTest, EndsWhereItsCallerIsCancelled) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the race detector does not see how oneTBB hands over the loop below";
#endif
  const internal_parallel::ShareAll all;
  tbb::task_arena arena(4);
  for (int round = 0; round < 20; ++round) {
    const auto run = [&] {
      tbb::parallel_for(0, 64, [&](int i) {
        SetNumThreads(4);
        std::atomic<int> ran = 0;
        ParallelForPlain(8, 1,
                         [&](int64_t begin, int64_t end) { ran += static_cast<int>(end - begin); });
        EXPECT_EQ(ran, 8);
        if (i == 5) throw std::runtime_error("cancels the others");
      });
    };
    arena.execute([&] { EXPECT_THROW(run(), std::runtime_error); });
  }
}

}  // namespace
}  // namespace cooper
