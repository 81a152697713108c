#include "module/bucketing/background_tasks.h"

#include <utility>

#include "ndarray/threads/parallel.h"

namespace cooper {

BackgroundTasks::~BackgroundTasks() { Finish(); }

void BackgroundTasks::Add(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  if (static_cast<int>(others_.size()) + 1 >= threads_) return;
  others_.emplace_back([this, num_threads = NumThreads()] { Work(num_threads); });
}

void BackgroundTasks::Finish() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  Work(NumThreads());
  for (std::thread& thread : others_) thread.join();
  others_.clear();
}

void BackgroundTasks::Work(int num_threads) {
  SetNumThreads(num_threads);
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace cooper
