#ifndef COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_
#define COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_

// The store of one process, "local" or "device": sums over its devices, in the order in which they
// are given. MXNet: src/kvstore/kvstore_local.h.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/gradient_compression.h"
#include "module/kvstore/kvstore.h"
#include "ndarray/ndarray.h"

namespace cooper {

class KVStoreLocal : public KVStore {
 public:
  explicit KVStoreLocal(absl::string_view type) : type_(type) {}

  absl::string_view type() const override { return type_; }
  absl::Status Init(const std::string& key, const NDArray& value) override;
  bool contains(const std::string& key) const override { return entries_.contains(key); }
  std::vector<std::string> keys() const override;
  absl::StatusOr<NDArray> Get(const std::string& key) const override;
  absl::Status Set(const std::string& key, const NDArray& value) override;
  absl::Status Push(const std::string& key, absl::Span<const NDArray> values) override;
  absl::Status Pull(const std::string& key, absl::Span<const NDArray> outs) override;
  absl::Status InitAll(absl::Span<const KVItem> items) override;
  absl::Status SetUpdater(std::shared_ptr<Updater> updater) override;
  const std::shared_ptr<Updater>& updater() const override { return updater_; }
  absl::Status SetGradientCompression(const std::map<std::string, std::string>& params) override;
  Traffic traffic() const override { return traffic_; }
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override;
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) override;

 private:
  // One key. All arrays are in CPU memory.
  struct Entry {
    NDArray value;
    NDArray sum;  // of the values of a Push; made when first needed
    // Whether the value is the last sum of several devices, rather than a parameter.
    bool holds_sum = false;
    std::vector<uint32_t> words;  // with compression
  };

  absl::StatusOr<Entry*> Find(const std::string& key, absl::Span<const NDArray> arrays);
  absl::Status Sum(const std::string& key, absl::Span<const NDArray> values, Entry* entry);
  absl::Status SumCompressed(const std::string& key, absl::Span<const NDArray> values,
                             Entry* entry);

  const std::string type_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::vector<NDArray>> residuals_;  // by key and device, with compression
  std::shared_ptr<Updater> updater_;
  std::optional<GradientCompression> compression_;
  Traffic traffic_;
};

absl::StatusOr<std::unique_ptr<KVStore>> MakeKVStoreLocal(absl::string_view type);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_KVSTORE_LOCAL_H_
