#ifndef COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_
#define COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_

// The store of one process, "local" or "device": sums over its devices in the order in which they
// are given. MXNet: src/kvstore/kvstore_local.h.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/device_step.h"
#include "module/kvstore/kvstore_with_values.h"
#include "module/kwargs/kwargs.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Sums of CPU arrays are complete when a call returns; sums on GPUs may be queued (KVStore::Step).
class KVStoreLocal : public KVStoreWithValues {
 public:
  explicit KVStoreLocal(absl::string_view type) : KVStoreWithValues(type) {}

  absl::Status Init(const std::string& key, const NDArray& value) override;
  absl::Status Set(const std::string& key, const NDArray& value) override;
  absl::Status Push(const std::string& key, absl::Span<const NDArray> values) override;
  absl::Status InitAll(absl::Span<const KVItem> items) override;
  absl::StatusOr<KVStepInfo> Step(absl::Span<const KVItem> items, bool active) override;
  absl::StatusOr<GradientReady> BeginGradients(absl::Span<const KVItem> items) override;
  absl::Status SetGradientCompression(const Kwargs& params) override;
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override;
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) override;

 protected:
  void Forget(const std::vector<std::string>& keys) override;

 private:
  // Buffers for pushes of one key, on the context of its value.
  struct Work {
    NDArray sum;                  // of the values of a Push; allocated on first use
    std::vector<NDArray> copies;  // of values on other devices, if the sum is on a GPU
    // Whether the stored value is the last sum of several devices, instead of a parameter.
    bool holds_sum = false;
    std::vector<uint32_t> words;  // with compression
  };

  // Whether a new value is the weight's own array. With type "device" a GPU's array is, since it is
  // summed and updated there.
  bool Takes(const NDArray& weight) const;
  // Whether the item is summed, and its value updated, on the item's GPUs.
  bool IsOnGpus(const KVItem& item) const;
  static absl::Status SumOnGpu(absl::Span<const NDArray> values, Work* work);
  absl::Status Sum(const std::string& key, absl::Span<const NDArray> values, Work* work);
  absl::Status SumCompressed(const std::string& key, absl::Span<const NDArray> values, Work* work);

  DeviceStep device_step_{/*world=*/nullptr};
  std::map<std::string, Work> work_;
  std::map<std::string, std::vector<NDArray>> residuals_;  // by key and device
};

// Creates a store of the type "local" or "device".
absl::StatusOr<std::unique_ptr<KVStore>> MakeKVStoreLocal(absl::string_view type);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_
