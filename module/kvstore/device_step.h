#ifndef COOPER_MODULE_KVSTORE_DEVICE_STEP_H_
#define COOPER_MODULE_KVSTORE_DEVICE_STEP_H_

// A training step for parameters that are on several GPUs: the gradients are summed on the GPUs,
// the first GPU updates, and the others get copies. All of it is work in the devices' queues; the
// host waits only for a sum over processes without NCCL.

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/kvstore/collective.h"
#include "module/kvstore/gradient_buckets.h"
#include "module/kvstore/kvstore.h"
#include "module/optimizer/updater.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns the GPUs of `arrays`, if these are floating arrays on distinct GPUs; else an empty
// vector.
std::vector<Context> DistinctGpus(absl::Span<const NDArray> arrays);

// Runs steps; see the top of the file.
class DeviceStep {
 public:
  // `world`, which must outlive this object, is that of a store over processes; null for one
  // process.
  explicit DeviceStep(CollectiveWorld* world) : world_(world) {}

  // Begins the sums of `items`, whose gradients are all on the same GPUs; they start as the
  // returned function reports the gradients. Call Forget before.
  absl::StatusOr<KVStore::GradientReady> Begin(absl::Span<const KVItem> items,
                                               const Updater* updater, const KVBuckets& buckets);
  // Discards the step that was begun: the next one makes all sums anew.
  absl::Status Forget();

  // Runs the step, or the rest of it after Begin. With an updater, values[k] on the first GPU is
  // updated by the sum of item k's gradients and copied to the item's outs. Without one, the sum is
  // written to the outs, which are on the gradients' GPUs, and to values[k] where it is not null.
  // Items on different sets of GPUs are summed separately. All processes must pass the same keys in
  // the same order.
  absl::Status Run(absl::Span<const KVItem> items, absl::Span<const NDArray> values,
                   Updater* updater, const KVBuckets& buckets);

 private:
  absl::StatusOr<GradientBuckets*> BucketsOf(const std::vector<Context>& contexts,
                                             const KVBuckets& buckets);
  absl::Status RunOn(GradientBuckets& sums, absl::Span<const KVItem* const> items,
                     absl::Span<const NDArray* const> values, Updater* updater);

  CollectiveWorld* const world_;
  std::map<std::vector<Context>, std::unique_ptr<GradientBuckets>> buckets_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_DEVICE_STEP_H_
