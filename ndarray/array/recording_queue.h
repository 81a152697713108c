#ifndef COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_
#define COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_

// Queues whose work can be recorded, to be put in again and again as a whole: on a GPU by CUDA
// graphs. Hundreds of launches become one.

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/array/device.h"

namespace cooper {

// Work of one device that was recorded. It uses the memory that it was recorded with, which must be
// there whenever it runs. Who ends it while it runs does no harm.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
};

// The random numbers of what is recorded are those of each time that it is put in.
struct RecordedRandom {
  // On the device, the caller's to set before: a kernel draws from
  // Philox(words[0], words[1] | stream), where `stream` is that of the run that was recorded.
  const uint64_t* words = nullptr;
  bool drawn = false;  // set by who draws
};

class RecordingQueue : public DeviceQueue {
 public:
  // What `put_in` puts into the queue that it is given, which lives as long as the call, and whose
  // recorded_random() is `random`: none of it runs. kFailedPrecondition if that waits for the
  // device, allocates there, or does anything else that cannot be put in again; otherwise the error
  // of `put_in`. Other threads may use the device meanwhile.
  virtual absl::StatusOr<std::unique_ptr<DeviceGraph>> Record(
      RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue& queue)> put_in) = 0;

  // Puts in that two words of the device's memory are overwritten. The values go with the call.
  virtual absl::Status SetWords(uint64_t* words, uint64_t first, uint64_t second) = 0;

  // Puts in a recording of this device.
  virtual absl::Status PutIn(const DeviceGraph& graph) = 0;

  // Null unless this is a queue that records.
  virtual RecordedRandom* recorded_random() const { return nullptr; }
};

// The queue as one that can record, or null.
inline RecordingQueue* AsRecording(DeviceQueue* queue) {
  return dynamic_cast<RecordingQueue*>(queue);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_RECORDING_QUEUE_H_
