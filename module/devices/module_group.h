#ifndef COOPER_MODULE_DEVICES_MODULE_GROUP_H_
#define COOPER_MODULE_DEVICES_MODULE_GROUP_H_

// The state that modules which train together share, such as the buckets of a BucketingModule:
// their parameters and the resources of their contexts.

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "io/batch/bucket_key.h"
#include "module/devices/device_contexts.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/context.h"

namespace cooper {

class ModuleGroup {
 public:
  // `contexts` must not be empty.
  explicit ModuleGroup(const std::vector<Context>& contexts)
      : parameters_(contexts), devices_(contexts) {}

  ParameterStore& parameters() { return parameters_; }
  const ParameterStore& parameters() const { return parameters_; }
  DeviceContexts& devices() { return devices_; }
  const DeviceContexts& devices() const { return devices_; }
  int num_contexts() const { return devices_.size(); }

  // Keys of all buckets that were ever bound, also by the run that a state was taken of.
  const std::set<BucketKey>& buckets() const { return buckets_; }
  void AddBucket(const BucketKey& key) { buckets_.insert(key); }

  // The updater of the parameters; null until InitOptimizer.
  std::shared_ptr<Updater> updater() const { return parameters_.updater(); }
  // Bytes of all arenas.
  int64_t arena_bytes() const { return devices_.arena_bytes(); }

 private:
  ParameterStore parameters_;
  DeviceContexts devices_;
  std::set<BucketKey> buckets_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_MODULE_GROUP_H_
