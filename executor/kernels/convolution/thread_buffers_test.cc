#include "executor/kernels/convolution/thread_buffers.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

TEST(ThreadBuffersTest, RunsEachPartOnceAndNoBufferTwiceAtATime) {
  for (const int threads : {1, 2, 5}) {
    SetNumThreads(threads);
    for (const int64_t parts : {0, 1, 7, 64, 1000}) {
      for (const int64_t buffers : {1, 2, 3, 16, 40}) {
        std::vector<std::atomic<int>> runs(parts), users(buffers);
        ForEachPartWithBuffer(parts, buffers, [&](int64_t part, int64_t buffer) {
          EXPECT_EQ(users[buffer].fetch_add(1), 0);
          runs[part].fetch_add(1);
          users[buffer].fetch_sub(1);
        });
        EXPECT_THAT(runs, testing::Each(testing::Eq(1)))
            << parts << " parts, " << buffers << " buffers, " << threads << " threads";
      }
    }
  }
  SetNumThreads(0);
}

}  // namespace
}  // namespace cooper
