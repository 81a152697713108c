#include "module/devices/device_threads.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

TEST(DeviceThreadsTest, EachDeviceHasAThreadOfItsOwn) {
  DeviceThreads threads(3);
  std::vector<std::thread::id> first(3);
  for (int round = 0; round < 100; ++round) {
    // None returns before all have started: they run at the same time.
    std::atomic<int> started = 0;
    std::vector<std::thread::id> ids(3);
    COOPER_ASSERT_OK(threads.Run([&](int device) {
      ids[device] = std::this_thread::get_id();
      ++started;
      while (started < 3) std::this_thread::yield();
      return absl::OkStatus();
    }));
    if (round == 0) first = ids;
    EXPECT_EQ(ids, first);
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_NE(ids[1], ids[2]);
  }
}

TEST(DeviceThreadsTest, ThreadsAreShared) {
  SetNumThreads(4);
  const int all = NumThreads();
  DeviceThreads threads(2);
  std::vector<int> each(2);
  COOPER_ASSERT_OK(threads.Run([&](int device) {
    each[device] = NumThreads();
    return absl::OkStatus();
  }));
  EXPECT_THAT(each, testing::Each(std::max(1, all / 2)));
  EXPECT_EQ(NumThreads(), all);
}

TEST(DeviceThreadsTest, TheFirstErrorCounts) {
  DeviceThreads threads(3);
  EXPECT_THAT(threads.Run([](int device) {
    if (device == 0) return absl::OkStatus();
    return absl::InternalError(std::string(1, static_cast<char>('0' + device)));
  }),
              StatusIs(absl::StatusCode::kInternal, "1"));
  COOPER_EXPECT_OK(threads.Run([](int) { return absl::OkStatus(); }));
}

}  // namespace
}  // namespace cooper
