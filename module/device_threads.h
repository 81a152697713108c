#ifndef COOPER_MODULE_DEVICE_THREADS_H_
#define COOPER_MODULE_DEVICE_THREADS_H_

// A thread for each device, so that several compute at the same time.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace cooper {

class DeviceThreads {
 public:
  // The threads start with the first Run. At least one device.
  explicit DeviceThreads(int devices) : devices_(devices) {}
  ~DeviceThreads();
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  // Calls fn(i) for every device at the same time, for the first one on the calling thread, and
  // returns when all are done. Each may use NumThreads() / devices threads of its own, at least
  // one. The status is that of the first device, by number, that failed.
  absl::Status Run(absl::FunctionRef<absl::Status(int)> fn);

 private:
  void Work(int device);

  const int devices_;
  std::vector<std::thread> threads_;  // of the devices after the first
  // std's, not Abseil's: the race detector sees through it.
  std::mutex mutex_;
  // Guarded by mutex_.
  const absl::FunctionRef<absl::Status(int)>* fn_ = nullptr;
  int threads_each_ = 1;
  int64_t round_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<absl::Status> results_;
  std::condition_variable begin_;  // round_ or stop_ has changed
  std::condition_variable end_;    // running_ is 0
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICE_THREADS_H_
