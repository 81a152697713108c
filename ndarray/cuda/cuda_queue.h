#ifndef COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_
#define COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_

// Implements DeviceQueue with a CUDA stream, and defines helpers for copies in a queue
// (cuda_queue.cc) and outside of queues (cuda_device.cc).

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/array/device.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns the direction of a copy between two contexts, at least one of them a GPU, for
// cudaMemcpyAsync.
cudaMemcpyKind CudaCopyKind(Context dst_context, Context src_context);

// Describes a copy for error messages: "copying 12 bytes from cpu(0) to gpu(0)".
std::string DescribeCudaCopy(Context dst_context, Context src_context, int64_t bytes);

// Returns whether the device may still read `src` after the call that enqueues the copy has
// returned: true for pinned CPU memory. Pageable memory is copied within the call, unless the
// device accesses it directly (AccessesPageableMemory).
bool IsPinned(Context src_context, const void* src);
// Returns whether the device reads pageable memory without staging
// (cudaDevAttrPageableMemoryAccess: by ATS or HMM). CUDA documents only that a copy of pageable
// memory "might" be synchronous, so such a device may read it later.
bool AccessesPageableMemory(int device_id);

// A queue on a stream of one GPU. Thread-safe.
class CudaQueue : public RecordingQueue {
 public:
  // Creates a queue whose stream and the default stream wait for each other.
  static absl::StatusOr<std::unique_ptr<CudaQueue>> Create(int device_id);

  // Waits for pending work. Tolerates a driver that has been unloaded already, at the end of the
  // program.
  ~CudaQueue() override;

  void* handle() const override { return stream_; }

  absl::Status WaitFor(DeviceQueue& other) override;
  absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                    int64_t bytes) override;
  absl::Status Synchronize() override;

  // Records the work as a CUDA graph.
  absl::StatusOr<std::unique_ptr<DeviceGraph>> Record(
      RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue& queue)> enqueue) override;
  absl::Status SetWords(uint64_t* words, uint64_t first, uint64_t second) override;
  absl::Status EnqueueFn(const DeviceGraph& graph) override;
  RecordedRandom* recorded_random() const override { return recorded_random_; }

 private:
  explicit CudaQueue(int device_id) : device_id_(device_id) {}
  // Creates the stream; `flags` are those of cudaStreamCreateWithFlags.
  absl::Status Open(unsigned flags);

  const int device_id_;
  cudaStream_t stream_ = nullptr;
  RecordedRandom* recorded_random_ = nullptr;
  std::mutex mutex_;             // guards event_
  cudaEvent_t event_ = nullptr;  // recorded after the stream's work, for waiting queues
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_
