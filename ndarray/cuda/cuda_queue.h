#ifndef COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_
#define COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_

// A stream of a GPU as a queue, and what copies have in common, in queues and outside.

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

cudaMemcpyKind CudaCopyKind(Context dst_context, Context src_context);

// "copying 12 bytes from cpu(0) to gpu(0)"
std::string DescribeCudaCopy(Context dst_context, Context src_context, int64_t bytes);

// Whether the device may still read `src`, in a copy's turn, when the call that queues the copy has
// returned: memory of a CPU that is pinned. What is pageable was copied within the call, unless the
// device reaches it by itself (ReachesPageable).
bool IsPinned(Context src_context, const void* src);
// Of pageable memory CUDA promises no more than that a copy "might" be synchronous, and where a
// device reads it without staging (cudaDevAttrPageableMemoryAccess: by ATS or HMM) there is no
// reason for it.
bool ReachesPageable(int device_id);

// Thread-safe.
class CudaQueue : public RecordingQueue {
 public:
  // A stream that the default stream waits for, and that waits for it.
  static absl::StatusOr<std::unique_ptr<CudaQueue>> Create(int device_id);

  // A program that ends may have lost its driver before.
  ~CudaQueue() override;

  void* handle() const override { return stream_; }

  absl::Status WaitFor(DeviceQueue& other) override;
  absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                    int64_t bytes) override;
  absl::Status Synchronize() override;

  // CUDA graphs.
  absl::StatusOr<std::unique_ptr<DeviceGraph>> Record(
      RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue& queue)> put_in) override;
  absl::Status SetWords(uint64_t* words, uint64_t first, uint64_t second) override;
  absl::Status PutIn(const DeviceGraph& graph) override;
  RecordedRandom* recorded_random() const override { return recorded_random_; }

 private:
  explicit CudaQueue(int device_id) : device_id_(device_id) {}
  // `flags` of cudaStreamCreateWithFlags.
  absl::Status Open(unsigned flags);

  const int device_id_;
  cudaStream_t stream_ = nullptr;
  RecordedRandom* recorded_random_ = nullptr;
  std::mutex mutex_;             // of the event
  cudaEvent_t event_ = nullptr;  // the end of what the stream holds, for those that wait for it
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUDA_QUEUE_H_
