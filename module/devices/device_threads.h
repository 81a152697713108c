#ifndef COOPER_MODULE_DEVICES_DEVICE_THREADS_H_
#define COOPER_MODULE_DEVICES_DEVICE_THREADS_H_

// A thread for each device, so that several compute at the same time.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace cooper {

// One caller at a time. Run must not be called from within fn.
class DeviceThreads {
 public:
  // The threads start with the first call. At least one device.
  explicit DeviceThreads(int devices) : devices_(devices) {}
  ~DeviceThreads();
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  // Calls fn(i) for every device at the same time, for the first one on the calling thread, and
  // returns when all are done. Each may use NumThreads() / devices threads of its own, at least
  // one. The status is that of the first device, by number, that failed. All calls run to their
  // end, also after an error. A call costs a few microseconds where the threads still look for
  // work, else waking them.
  absl::Status Run(absl::FunctionRef<absl::Status(int)> fn);

 private:
  // Calls fn(i) for every device.
  void Dispatch(absl::FunctionRef<void(int)> fn);
  void Work(int device);

  const int devices_;
  std::vector<std::thread> threads_;  // of the devices after the first
  std::vector<absl::Status> results_;
  // The function that the threads run. It changes only while no thread runs.
  const absl::FunctionRef<void(int)>* fn_ = nullptr;
  // Threads look at these for a while before they sleep. std's, not Abseil's: the race detector
  // sees through them.
  std::atomic<int64_t> round_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable begin_;  // round_ or stop_ has changed
  std::condition_variable end_;    // running_ is 0
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_DEVICE_THREADS_H_
