#ifndef COOPER_MODULE_KVSTORE_DEVICE_STEP_H_
#define COOPER_MODULE_KVSTORE_DEVICE_STEP_H_

// A step of training of parameters that several GPUs have: gradients are summed there, the first
// GPU updates, the others get a copy. All of it is work in the devices' queues, for which the host
// does not wait (but in a sum over processes without NCCL).

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/collective.h"
#include "module/kvstore/gradient_buckets.h"
#include "module/kvstore/kvstore.h"
#include "module/optimizer/updater.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// The GPUs on which `arrays` are, if they are floats and no two on the same; else none.
std::vector<Context> DistinctGpus(absl::Span<const NDArray> arrays);

class DeviceStep {
 public:
  // `world`, which outlives it, is that of a store over processes; null: of this one alone.
  explicit DeviceStep(CollectiveWorld* world) : world_(world) {}

  // Begins the sums of `items`, whose gradients are all on the same GPUs: from now on they wait for
  // Ready. What was begun before is forgotten.
  absl::Status Begin(absl::Span<const KVItem> items, const Updater* updater,
                     const KVBuckets& buckets);
  // Whatever was begun is over: the next step makes all sums anew.
  absl::Status Forget();
  // GradientBuckets::Ready for the step that was begun, if one was.
  absl::Status Ready(absl::string_view key, int device, DeviceQueue& queue);

  // The step itself, or what is left of it after Begin. values[k], on the first GPU, is updated by
  // the sum of item k's gradients, and copied to the item's outs; without an updater these, which
  // are where the gradients are, get the sum, and so does values[k] where it is not null. Items of
  // different GPUs are summed apart. Over processes, all bring the same keys in the same order.
  absl::Status Run(absl::Span<const KVItem> items, absl::Span<const NDArray> values,
                   Updater* updater, const KVBuckets& buckets);

 private:
  absl::StatusOr<GradientBuckets*> BucketsOf(const std::vector<Context>& contexts,
                                             const KVBuckets& buckets);
  absl::Status RunOn(GradientBuckets& sums, absl::Span<const KVItem* const> items,
                     absl::Span<const NDArray* const> values, Updater* updater);

  CollectiveWorld* const world_;
  std::map<std::vector<Context>, std::unique_ptr<GradientBuckets>> buckets_;
  GradientBuckets* begun_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_DEVICE_STEP_H_
