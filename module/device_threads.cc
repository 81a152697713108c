#include "module/device_threads.h"

#include <algorithm>
#include <utility>

#include "ndarray/parallel.h"

namespace cooper {

DeviceThreads::~DeviceThreads() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status DeviceThreads::Run(absl::FunctionRef<absl::Status(int)> fn) {
  if (devices_ == 1) return fn(0);
  const int all_threads = NumThreads();
  const int each = std::max(1, all_threads / devices_);
  while (static_cast<int>(threads_.size()) + 1 < devices_) {
    const int device = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, device] { Work(device); });
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    fn_ = &fn;
    threads_each_ = each;
    running_ = devices_ - 1;
    results_.assign(devices_, absl::OkStatus());
    ++round_;
  }
  begin_.notify_all();
  SetNumThreads(each);
  absl::Status result = fn(0);
  SetNumThreads(all_threads);
  std::unique_lock<std::mutex> lock(mutex_);
  end_.wait(lock, [this] { return running_ == 0; });
  fn_ = nullptr;
  for (int i = 1; i < devices_ && result.ok(); ++i) result = results_[i];
  return result;
}

void DeviceThreads::Work(int device) {
  int64_t done = 0;  // rounds
  while (true) {
    const absl::FunctionRef<absl::Status(int)>* fn;
    int threads;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || round_ != done; });
      if (stop_) return;
      done = round_;
      fn = fn_;
      threads = threads_each_;
    }
    SetNumThreads(threads);
    absl::Status status = (*fn)(device);
    std::lock_guard<std::mutex> lock(mutex_);
    results_[device] = std::move(status);
    if (--running_ == 0) end_.notify_one();
  }
}

}  // namespace cooper
