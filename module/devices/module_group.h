#ifndef COOPER_MODULE_DEVICES_MODULE_GROUP_H_
#define COOPER_MODULE_DEVICES_MODULE_GROUP_H_

// The state that modules which train together share, such as the buckets of a BucketingModule:
// their parameters, what updates these, and the resources of their contexts.

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/bucket_key.h"
#include "module/devices/device_contexts.h"
#include "module/kvstore/kvstore.h"
#include "module/kwargs/kwargs.h"
#include "module/options/parameter_options.h"
#include "module/parameters/learner.h"
#include "module/parameters/parameters.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Owned by the modules together (std::shared_ptr): it lives as long as one of them. Not
// thread-safe.
class ModuleGroup {
 public:
  // `contexts` must not be empty.
  explicit ModuleGroup(const std::vector<Context>& contexts)
      : parameters_(contexts), learner_(parameters_), devices_(contexts) {}

  // Return the parts, valid as long as the group. Learner updates the arrays that Parameters hold;
  // executors on the contexts compute with them.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  Learner& learner() { return learner_; }
  const Learner& learner() const { return learner_; }
  DeviceContexts& devices() { return devices_; }
  const DeviceContexts& devices() const { return devices_; }
  int num_contexts() const { return devices_.size(); }

  // Keys of all buckets that were ever bound, also by the run that a state was taken of.
  const std::set<BucketKey>& buckets() const { return buckets_; }
  void AddBucket(const BucketKey& key) { buckets_.insert(key); }

  // Learner::InitOptimizer, with the rank of its key-value store for the contexts' random streams.
  absl::Status InitOptimizer(const InitOptimizerOptions& options, int64_t batch_size,
                             const Kwargs& compression_params) {
    COOPER_RETURN_IF_ERROR(learner_.InitOptimizer(options, batch_size, compression_params));
    devices_.SetRank(learner_.kvstore() == nullptr ? 0 : learner_.kvstore()->rank());
    return absl::OkStatus();
  }
  // The updater of the parameters; null until InitOptimizer.
  std::shared_ptr<Updater> updater() const { return learner_.updater(); }
  // Bytes of all arenas. An arena is as large as the largest plan so far of the modules on it.
  int64_t arena_bytes() const { return devices_.arena_bytes(); }

 private:
  Parameters parameters_;
  Learner learner_;
  DeviceContexts devices_;
  std::set<BucketKey> buckets_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_MODULE_GROUP_H_
