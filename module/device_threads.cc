#include "module/device_threads.h"

#include <algorithm>
#include <cstdint>

#include "ndarray/parallel.h"

namespace cooper {

DeviceThreads::~DeviceThreads() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
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
    absl::MutexLock lock(&mutex_);
    fn_ = &fn;
    threads_each_ = each;
    running_ = devices_ - 1;
    results_.assign(devices_, absl::OkStatus());
    ++round_;
  }
  SetNumThreads(each);
  absl::Status result = fn(0);
  SetNumThreads(all_threads);
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](int* running) { return *running == 0; }, &running_));
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
      absl::MutexLock lock(&mutex_);
      const auto ready = [this, &done] {
        mutex_.AssertReaderHeld();
        return stop_ || round_ != done;
      };
      mutex_.Await(absl::Condition(&ready));
      if (stop_) return;
      done = round_;
      fn = fn_;
      threads = threads_each_;
    }
    SetNumThreads(threads);
    absl::Status status = (*fn)(device);
    absl::MutexLock lock(&mutex_);
    results_[device] = std::move(status);
    --running_;
  }
}

}  // namespace cooper
