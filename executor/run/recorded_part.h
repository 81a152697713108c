#ifndef COOPER_EXECUTOR_RUN_RECORDED_PART_H_
#define COOPER_EXECUTOR_RUN_RECORDED_PART_H_

// Records the work of a part of a program on a device that supports it
// (ndarray/array/recording_queue.h), and launches the recording as a whole when the part runs
// again.

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ndarray/array/device.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"

namespace cooper {

// Identifies the random numbers of a run: instruction `id` draws from Philox(seed, stream | id).
struct RunRandom {
  uint64_t seed = 0;
  uint64_t stream = 0;
};

// The recording of one part, if there is one. Not thread-safe.
class RecordedPart {
 public:
  // Enqueues the kernels of the part. With `recorded` the work will be launched again, so random
  // numbers must not depend on the run: the device reads seed and stream from memory
  // (RecordedRandom).
  using EnqueueFn = absl::FunctionRef<absl::Status(DeviceQueue& queue, bool recorded)>;

  // Enqueues one run on `queue`, a queue of `context`. `pointers` stands for all addresses that
  // kernels receive. If it equals that of the previous run, the part is recorded, and the recording
  // is launched until `pointers` changes. Work that cannot be recorded, such as a kernel that waits
  // for the device, is tried once for each value of `pointers`; the failure is logged at verbosity
  // 1. Returns the error of `enqueue` or of the device.
  absl::Status Run(RecordingQueue& queue, Context context, int64_t pointers,
                   const RunRandom& random, EnqueueFn enqueue);

  // Returns whether the part is recorded now.
  bool is_recorded() const { return graph_ != nullptr; }

 private:
  // Sets graph_, or refused_ if the work cannot be recorded.
  void Record(RecordingQueue& queue, Context context, EnqueueFn enqueue);

  std::unique_ptr<DeviceGraph> graph_;
  int64_t pointers_ = -1;  // of the last run
  bool refused_ = false;
  RecordedRandom random_;
  std::shared_ptr<Storage> words_;  // of random_
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RECORDED_PART_H_
