#include "ndarray/threads/parallel_wavefront.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/available_cpus.h"
#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Each piece reads the writes of the pieces on its left and above it, from any thread.
TEST(ParallelWavefrontTest, APieceFollowsThoseLeftOfItAndAbove) {
  const internal_parallel::ShareAll all;
  for (int threads : {1, 2, 3, 8}) {
    SetNumThreads(threads);
    for (int64_t rows : {1, 2, 3, 7, 100}) {
      for (int64_t columns : {1, 2, 5, 300}) {
        // Ways from the corner, modulo 2^64: 0 where a piece was not run, or too early.
        std::vector<uint64_t> ways(rows * columns, 0), expected(rows * columns, 0);
        std::vector<int> runs(rows * columns, 0);
        const auto count = [&](std::vector<uint64_t>& of, int64_t row, int64_t column) {
          const int64_t at = row * columns + column;
          of[at] = at == 0 ? 1 : 0;
          if (row > 0) of[at] += of[at - columns];
          if (column > 0) of[at] += of[at - 1];
        };
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) count(expected, row, column);
        }
        ParallelWavefront(rows, columns, [&](int64_t row, int64_t column) {
          count(ways, row, column);
          ++runs[row * columns + column];
        });
        EXPECT_EQ(ways, expected) << rows << " x " << columns << ", threads " << threads;
        EXPECT_EQ(runs, std::vector<int>(rows * columns, 1));
      }
    }
  }
  SetNumThreads(0);
}

TEST(ParallelWavefrontTest, NothingToDo) {
  const auto never = [](int64_t, int64_t) { FAIL(); };
  ParallelWavefront(0, 5, never);
  ParallelWavefront(5, 0, never);
}

// Two threads may be in different rows at the same time.
TEST(ParallelWavefrontTest, RowsOverlap) {
  if (AvailableCpus() < 2) GTEST_SKIP() << "no processor for another thread";
  const internal_parallel::ShareAll all;
  SetNumThreads(2);
  std::atomic<bool> second_ran = false, overlapped = false;
  ParallelWavefront(2, 2, [&](int64_t row, int64_t column) {
    if (row == 1) second_ran = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (row == 0 && column == 1 && !second_ran && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    if (row == 0 && column == 1) overlapped = second_ran.load();
  });
  EXPECT_TRUE(overlapped);
  SetNumThreads(0);
}

// After long waits for helpers, as on a busy machine, the caller runs the table alone, row by row.
TEST(ParallelWavefrontTest, ACallerWhomOthersCostIsAlone) {
  std::thread([] {
    using internal_parallel::HelperBalance;
    for (int i = 0; i < 8; ++i) {
      HelperBalance::OfThisThread().Add({.waited = 10'000'000}, HelperBalance::Now());
    }
    SetNumThreads(4);
    std::set<std::pair<int64_t, int64_t>> pieces;
    const auto self = std::this_thread::get_id();
    ParallelWavefront(3, 5, [&](int64_t row, int64_t column) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      pieces.emplace(row, column);
    });
    EXPECT_EQ(pieces.size(), 15U);
  }).join();
}

TEST(ParallelWavefrontTest, WithinALoopItIsOneThreads) {
  SetNumThreads(4);
  std::atomic<int64_t> elsewhere = 0, pieces = 0;
  ParallelFor(4, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      ParallelWavefront(3, 50, [&](int64_t, int64_t) {
        ++pieces;
        if (std::this_thread::get_id() != self) ++elsewhere;
      });
    }
  });
  EXPECT_EQ(pieces, 4 * 3 * 50);
  EXPECT_EQ(elsewhere, 0);
  SetNumThreads(0);
}

TEST(ParallelWavefrontTest, ManyCallersAtATime) {
  const internal_parallel::ShareAll all;
  std::vector<std::thread> callers;
  callers.reserve(8);
  std::atomic<int64_t> sum = 0;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      SetNumThreads(3);
      ParallelWavefront(5, 100, [&](int64_t row, int64_t) {
        // A loop within it runs on one thread.
        ParallelFor(4, 1, [&](int64_t from, int64_t to) { sum += row * (to - from); });
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 8 * 100 * 4 * (0 + 1 + 2 + 3 + 4));
}

}  // namespace
}  // namespace cooper
