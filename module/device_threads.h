#ifndef COOPER_MODULE_DEVICE_THREADS_H_
#define COOPER_MODULE_DEVICE_THREADS_H_

// A thread for each device, so that several compute at the same time.

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

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
  absl::Mutex mutex_;
  const absl::FunctionRef<absl::Status(int)>* fn_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int threads_each_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t round_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICE_THREADS_H_
