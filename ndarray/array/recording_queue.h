#ifndef COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_
#define COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_

// Queues whose work can be recorded once and launched repeatedly as a whole (CUDA graphs on a GPU):
// hundreds of launches become one.

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/array/device.h"

namespace cooper {

// Recorded work of one device. It uses the memory that it was recorded with, which must be valid
// whenever it runs. It may be destroyed while it runs.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
};

// The random state of recorded work: each launch of the recording draws its own numbers.
struct RecordedRandom {
  // Device memory that the caller sets before each launch: a kernel draws from Philox(words[0],
  // words[1] | stream), where `stream` is the stream of the recorded run.
  const uint64_t* words = nullptr;
  bool drawn = false;  // set by the kernel launcher that draws
};

// A queue that can record. GPUs have such queues; the CPU's cannot record. Thread-safe, as every
// DeviceQueue is.
class RecordingQueue : public DeviceQueue {
 public:
  // Records the work that `enqueue` enqueues in the queue passed to it, without running it. That
  // queue lives as long as the call, and its recorded_random() is `random`. kFailedPrecondition if
  // `enqueue` waits for the device, allocates on it, or does anything else that cannot be repeated;
  // otherwise the error of `enqueue`. Other threads may use the device meanwhile.
  virtual absl::StatusOr<std::unique_ptr<DeviceGraph>> Record(
      RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue& queue)> enqueue) = 0;

  // Enqueues words[0] = first, words[1] = second in device memory. The values are copied by the
  // call, so they need no host memory.
  virtual absl::Status SetWords(uint64_t* words, uint64_t first, uint64_t second) = 0;

  // Launches a recording of this device: enqueues its work in this queue and returns before it has
  // run.
  virtual absl::Status EnqueueFn(const DeviceGraph& graph) = 0;

  // Returns the `random` that was passed to Record, if this is the queue that Record passes to
  // `enqueue`; else null.
  virtual RecordedRandom* recorded_random() const { return nullptr; }
};

// Returns the queue as a RecordingQueue, or null if it cannot record.
inline RecordingQueue* AsRecording(DeviceQueue* queue) {
  return dynamic_cast<RecordingQueue*>(queue);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_
