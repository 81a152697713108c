#include "ndarray/threads/parallel_steps.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Each step reads the writes of all threads in the previous step.
TEST(ParallelStepsTest, AStepBeginsWhenTheOneBeforeIsDone) {
  const internal_parallel::ShareAll all;
  constexpr int64_t kSteps = 300;
  for (int threads : {1, 2, 3, 8}) {
    SetNumThreads(threads);
    for (int64_t n : {1, 2, 7, 100}) {
      for (int64_t grain : {0, 1, 10, 1000000}) {
        // Sums of all elements of the step before: 0, n, n^2 + ... modulo 2^64.
        std::vector<uint64_t> before(n, 1), after(n);
        std::vector<int64_t> runs(n, 0);
        uint64_t expected = 1;
        int64_t last = -1;
        ParallelSteps(kSteps, n, grain, [&](int64_t step, int64_t begin, int64_t end) {
          const std::vector<uint64_t>& from = step % 2 == 0 ? before : after;
          std::vector<uint64_t>& to = step % 2 == 0 ? after : before;
          uint64_t sum = 0;
          for (uint64_t value : from) sum += value;
          for (int64_t i = begin; i < end; ++i) {
            to[i] = sum + static_cast<uint64_t>(step);
            ++runs[i];
          }
          if (begin == 0) last = step;
        });
        for (int64_t step = 0; step < kSteps; ++step) {
          expected = expected * static_cast<uint64_t>(n) + static_cast<uint64_t>(step);
        }
        EXPECT_EQ(before, std::vector<uint64_t>(n, expected));
        EXPECT_EQ(runs, std::vector<int64_t>(n, kSteps));
        EXPECT_EQ(last, kSteps - 1);
      }
    }
  }
}

TEST(ParallelStepsTest, NothingToDo) {
  const auto never = [](int64_t, int64_t, int64_t) { FAIL(); };
  ParallelSteps(0, 5, 1, never);
  ParallelSteps(5, 0, 1, never);
}

// A slow range delays the next step, but not the other ranges of its own: the caller waits and
// yields until the step is done.
TEST(ParallelStepsTest, WaitsForALongRange) {
  const internal_parallel::ShareAll all;
  SetNumThreads(2);
  std::atomic<int> runs = 0;
  ParallelSteps(3, 2, 1, [&](int64_t, int64_t begin, int64_t) {
    if (begin == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++runs;
  });
  EXPECT_EQ(runs, 6);
}

TEST(ParallelStepsTest, ManyCallersAtATime) {
  const internal_parallel::ShareAll all;
  std::vector<std::thread> callers;
  callers.reserve(8);
  std::atomic<int64_t> sum = 0;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      SetNumThreads(3);
      ParallelSteps(200, 3, 1, [&](int64_t, int64_t begin, int64_t end) {
        sum += end - begin;
        // A loop within it runs on one thread.
        ParallelFor(4, 1, [&](int64_t from, int64_t to) { sum += to - from; });
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 8 * 200 * 3 * 5);
}

}  // namespace
}  // namespace cooper
