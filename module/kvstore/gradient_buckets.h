#ifndef COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_
#define COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_

// The gradients of a step that are on several devices, summed bucket by bucket: small ones wait for
// each other, so that there are few sums, and a bucket may be summed while the backward pass still
// computes the next one.
//
// Gradients become ready in the reverse of the order in which the forward pass uses their
// parameters; in that order they fill buckets, and buckets are summed, always: results do not
// depend on which became ready first. Where copies add (copy_collective.h), they do not depend on
// the size of buckets either; NCCL chooses how it adds by how much there is.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/collective.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// One parameter's, by device of the collective.
struct DeviceGradient {
  std::string key;
  std::vector<NDArray> arrays;
  // Where the sum goes, may be `arrays`. Empty: to an array of the buckets' own on the first
  // device, so that `arrays` stay as they are.
  std::vector<NDArray> sums;
};

// Used by one thread at a time, but for Ready.
class GradientBuckets {
 public:
  // A bucket is full when it has `bucket_bytes` (> 0) of one device's gradients, or would have more
  // with the next one.
  GradientBuckets(std::unique_ptr<Collective> collective, int64_t bucket_bytes);

  const Collective& collective() const { return *collective_; }

  // Begins a step over `gradients`, in the order of the forward pass. A step that was begun and not
  // finished is over; what its sums still read is not overwritten before. kResourceExhausted
  // without memory for sums.
  absl::Status Begin(std::vector<DeviceGradient> gradients);
  // What Begin does of itself with a step that was not finished.
  absl::Status Forget();
  // Whether a step has begun, and not finished, over the same arrays.
  bool IsBegun(absl::Span<const DeviceGradient> gradients) const;

  // After Begin: what `queue` holds now has made the gradient of `device`. Keys that the step does
  // not have are passed over. Thread-safe.
  absl::Status Ready(absl::string_view key, int device, DeviceQueue& queue);

  // Sums what has not been ready, after what the devices' queues (QueueOf) hold now. What is put
  // into these later finds all sums.
  absl::Status Finish();

  // By device; those of gradient `k` of the last step. Where the step named none, only the first
  // device's is sure to be there.
  absl::Span<const NDArray> sums(size_t k) const { return gradients_[k].sums; }
  size_t num_buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::vector<size_t> gradients;
    std::vector<size_t> missing;  // by device: how many are not ready
    size_t devices = 0;           // for which none is missing
  };

  size_t num_devices() const { return collective_->contexts().size(); }
  // Puts the gradients into buckets, if they are others than those of the last step.
  void Layout();
  absl::Status MakeSums(DeviceGradient& gradient);
  absl::Status MakeQueues();
  // Sums the next bucket, in its queues.
  absl::Status StartNext();
  // Makes the devices' queues wait for the buckets that were started. The caller holds the mutex.
  absl::Status WaitForStarted();

  const std::unique_ptr<Collective> collective_;
  const int64_t bucket_bytes_;
  std::vector<DeviceGradient> gradients_;
  std::map<std::string, std::vector<NDArray>> own_sums_;  // by key
  std::vector<Bucket> buckets_;
  absl::flat_hash_map<std::string, size_t> index_;  // of gradients, by key
  std::vector<size_t> bucket_of_;                   // by gradient
  // By bucket and device: they hold where a bucket's gradients are ready, and then its sum.
  std::vector<std::vector<std::unique_ptr<DeviceQueue>>> queues_;

  std::mutex mutex_;                      // of what follows, and of the buckets' counts
  std::vector<std::vector<bool>> ready_;  // by gradient and device
  size_t next_ = 0;                       // the bucket to start
  bool begun_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_
