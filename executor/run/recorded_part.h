#ifndef COOPER_EXECUTOR_RUN_RECORDED_PART_H_
#define COOPER_EXECUTOR_RUN_RECORDED_PART_H_

// A part of a program that is run again and again on a device which can record its work
// (ndarray/array/recording_queue.h).

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

class RecordedPart {
 public:
  // Puts the kernels of the part into a queue; `recorded`: to be put in again, with random numbers
  // of streams without the run's part.
  using EnqueueFn = absl::FunctionRef<absl::Status(DeviceQueue& queue, bool recorded)>;

  // Puts one run into `queue`, of `context`. `pointers` stands for all addresses that kernels are
  // given: where it is that of the run before, the part is recorded, and from then on put in as it
  // was recorded, until it changes. What cannot be recorded, as a kernel that waits for the device,
  // is tried once until then, and logged at verbosity 1. Returns what `enqueue` does, and the
  // device's errors.
  absl::Status Run(RecordingQueue& queue, Context context, int64_t pointers,
                   const RunRandom& random, EnqueueFn enqueue);

  bool is_recorded() const { return graph_ != nullptr; }

 private:
  // Makes graph_, or finds that there can be none.
  void Record(RecordingQueue& queue, Context context, EnqueueFn enqueue);

  std::unique_ptr<DeviceGraph> graph_;
  int64_t pointers_ = -1;  // of the last run
  bool refused_ = false;
  RecordedRandom random_;
  std::shared_ptr<Storage> words_;  // of random_
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RECORDED_PART_H_
