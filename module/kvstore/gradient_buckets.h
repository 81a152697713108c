#ifndef COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_
#define COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_

// Sums the gradients of a step that are on several devices, bucket by bucket: small gradients share
// a bucket, so that there are few sums, and a bucket may be summed while the backward pass still
// computes the next one.
//
// Gradients become ready in the reverse of the order in which the forward pass uses their
// parameters. They fill buckets in that order, and buckets are always summed in that order, so
// results do not depend on which gradient is ready first. With copies they do not depend on the
// bucket size either; NCCL chooses its algorithm by size.

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

// The gradient of one parameter, by device of the collective.
struct DeviceGradient {
  std::string key;
  std::vector<NDArray> arrays;
  // The destinations of the sum, possibly `arrays`. Empty: an array on the first device that
  // GradientBuckets owns, so that `arrays` stay unchanged.
  std::vector<NDArray> sums;
};

// See the top of the file. Used by one thread at a time, except for Ready.
class GradientBuckets {
 public:
  // A bucket is full when it has `bucket_bytes` (> 0) of one device's gradients, or would exceed
  // them with the next one.
  GradientBuckets(std::unique_ptr<Collective> collective, int64_t bucket_bytes);

  const Collective& collective() const { return *collective_; }

  // Begins a step over `gradients`, in the order of the forward pass. Discards an unfinished step;
  // arrays that its sums still read are not overwritten before. kResourceExhausted if there is no
  // memory for sums.
  absl::Status Begin(std::vector<DeviceGradient> gradients);
  // Discards an unfinished step, as Begin does.
  absl::Status Forget();
  // Whether a step over the same arrays has begun and is not finished.
  bool IsBegun(absl::Span<const DeviceGradient> gradients) const;

  // Reports, after Begin, that the work which `queue` holds now computes the gradient of `device`.
  // Ignores keys that the step does not have. Thread-safe.
  absl::Status Ready(absl::string_view key, int device, DeviceQueue& queue);

  // Sums the gradients that were not reported ready, after the work that the devices' queues
  // (GetQueue) hold now. Work put into these later runs after all sums.
  absl::Status Finish();

  // The sums of gradient `k` of the last step, by device. If the step gave no destinations, only
  // the first device's sum is guaranteed to exist.
  absl::Span<const NDArray> sums(size_t k) const { return gradients_[k].sums; }
  size_t num_buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::vector<size_t> gradients;
    std::vector<size_t> missing;  // by device: number of gradients not ready
    size_t devices = 0;           // for which no gradient is missing
  };

  size_t num_devices() const { return collective_->contexts().size(); }
  // Assigns the gradients to buckets, if they differ from those of the last step.
  void Layout();
  absl::Status MakeSums(DeviceGradient& gradient);
  absl::Status MakeQueues();
  // Sums the next bucket in its queues.
  absl::Status StartNext();
  // Makes the devices' queues wait for the started buckets. The caller holds the mutex.
  absl::Status WaitForStarted();

  const std::unique_ptr<Collective> collective_;
  const int64_t bucket_bytes_;
  std::vector<DeviceGradient> gradients_;
  std::map<std::string, std::vector<NDArray>> own_sums_;  // by key
  std::vector<Bucket> buckets_;
  absl::flat_hash_map<std::string, size_t> index_;  // of gradients, by key
  std::vector<size_t> bucket_of_;                   // by gradient
  // By bucket and device: a queue waits until the bucket's gradients are ready, then runs its sum.
  std::vector<std::vector<std::unique_ptr<DeviceQueue>>> queues_;

  std::mutex mutex_;                      // guards the members below and the buckets' counts
  std::vector<std::vector<bool>> ready_;  // by gradient and device
  size_t next_ = 0;                       // the next bucket to start
  bool begun_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_GRADIENT_BUCKETS_H_
