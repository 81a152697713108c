#include "module/devices/device_threads.h"

#include <algorithm>
#include <utility>

#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// How often a thread looks before it sleeps: a few microseconds, which others could use.
constexpr int kSpins = 200;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

template <typename Done>
bool SpinUntil(const Done& done) {
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    Relax();
  }
  return done();
}

}  // namespace

DeviceThreads::~DeviceThreads() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DeviceThreads::Dispatch(absl::FunctionRef<void(int)> fn) {
  while (static_cast<int>(threads_.size()) + 1 < devices_) {
    const int device = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, device] { Work(device); });
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    fn_ = &fn;
    running_ = devices_ - 1;
    ++round_;
  }
  begin_.notify_all();
  fn(0);
  const auto done = [this] { return running_ == 0; };
  if (SpinUntil(done)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  end_.wait(lock, done);
}

absl::Status DeviceThreads::Run(absl::FunctionRef<absl::Status(int)> fn) {
  if (devices_ == 1) return fn(0);
  const int all_threads = NumThreads();
  const int each = std::max(1, all_threads / devices_);
  results_.assign(devices_, absl::OkStatus());
  std::atomic<int64_t>* const flops = RunningProfileFlops();
  Dispatch([&](int device) {
    const ScopedProfileFlops scope(flops);
    SetNumThreads(each);
    results_[device] = fn(device);
  });
  SetNumThreads(all_threads);
  for (absl::Status& result : results_) {
    if (!result.ok()) return std::move(result);
  }
  return absl::OkStatus();
}

void DeviceThreads::Work(int device) {
  int64_t round = 0;  // the last one that was done
  while (true) {
    const auto ready = [&] { return stop_ || round_ != round; };
    if (!SpinUntil(ready)) {
      std::unique_lock<std::mutex> lock(mutex_);
      begin_.wait(lock, ready);
    }
    if (stop_) return;
    ++round;
    (*fn_)(device);
    // Under the lock, so that the caller cannot begin to wait in between.
    std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) end_.notify_one();
  }
}

}  // namespace cooper
