#include "module/bucketing/background_tasks.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::Each;

TEST(BackgroundTasksTest, EachTaskIsDoneOnce) {
  for (int threads : {1, 2, 5}) {
    std::vector<int> done(40);
    {
      BackgroundTasks tasks(threads);
      for (int& d : done) tasks.Add([&d] { ++d; });
    }
    EXPECT_THAT(done, Each(1)) << threads << " threads";
  }
}

TEST(BackgroundTasksTest, OtherThreadsDoNotWaitForTheCaller) {
  BackgroundTasks tasks(3);
  std::atomic<int> begun = 0;
  for (int i = 0; i < 2; ++i) {
    tasks.Add([&begun] {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
  }
  while (begun < 2) std::this_thread::yield();
}

TEST(BackgroundTasksTest, TheCallerIsOneOfTheThreads) {
  BackgroundTasks tasks(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> begun = 0;
  for (int i = 0; i < 3; ++i) {
    tasks.Add([&] {
      {
        std::lock_guard<std::mutex> lock(mutex);
        ids.insert(std::this_thread::get_id());
      }
      ++begun;
      while (begun < 3) std::this_thread::yield();
    });
  }
  tasks.Finish();
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 1u);
}

TEST(BackgroundTasksTest, OneThreadIsTheCallersAlone) {
  BackgroundTasks tasks(1);
  std::vector<std::thread::id> ids(3);
  for (std::thread::id& id : ids) tasks.Add([&id] { id = std::this_thread::get_id(); });
  EXPECT_THAT(ids, Each(std::thread::id())) << "before Finish";
  tasks.Finish();
  EXPECT_THAT(ids, Each(std::this_thread::get_id()));
}

TEST(BackgroundTasksTest, LoopsOfTasksHaveTheCallersNumberOfThreads) {
  const int before = NumThreads();
  SetNumThreads(7);
  std::vector<int> numbers(2);
  {
    BackgroundTasks tasks(2);
    std::atomic<bool> begun = false;
    tasks.Add([&] {
      begun = true;
      numbers[0] = NumThreads();
    });
    while (!begun) std::this_thread::yield();  // wait until the other thread has it
    tasks.Add([&] { numbers[1] = NumThreads(); });
  }
  EXPECT_THAT(numbers, Each(7));
  SetNumThreads(before);
}

}  // namespace
}  // namespace cooper
