#ifndef COOPER_MODULE_KVSTORE_KVSTORE_WITH_VALUES_H_
#define COOPER_MODULE_KVSTORE_KVSTORE_WITH_VALUES_H_

// The common part of all stores: a value for each key, in CPU memory (a store of one process may
// choose other memory), and the optimizer that updates the values.

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
#include "module/kwargs/kwargs.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// The base of KVStoreLocal and KVStoreMpi. A derived class sums the arrays of a Push and stores the
// sum, or passes it to the updater with the value. Not thread-safe.
class KVStoreWithValues : public KVStore {
 public:
  absl::string_view type() const override { return type_; }
  bool contains(const std::string& key) const override { return values_.contains(key); }
  std::vector<std::string> keys() const override;
  absl::StatusOr<NDArray> Get(const std::string& key) const override;
  absl::Status Set(const std::string& key, const NDArray& value) override;
  // Not collective. kNotFound before Init.
  absl::Status Pull(const std::string& key, absl::Span<const NDArray> outs) override;
  // Not collective, but every process has to call it in the same way.
  absl::Status SetUpdater(std::shared_ptr<Updater> updater) override;
  const std::shared_ptr<Updater>& updater() const override { return updater_; }
  absl::Status SetGradientCompression(const Kwargs& params) override;
  Traffic traffic() const override { return traffic_; }

 protected:
  explicit KVStoreWithValues(absl::string_view type) : type_(type) {}

  // Returns the value of a key, which `arrays` must match in shape and dtype. Errors as for Push.
  // The pointer is valid until the keys change.
  absl::StatusOr<NDArray*> Find(const std::string& key, absl::Span<const NDArray> arrays);
  void Forget(const std::vector<std::string>& keys) override;
  // kAlreadyExists for a key that has a value.
  absl::Status CheckNew(const std::string& key) const;
  // Whether a new value shares the weight's own array, so that an update needs no copy.
  bool TakesArray(const NDArray& weight) const {
    return updater_ != nullptr && weight.context().is_cpu();
  }

  std::map<std::string, NDArray> values_;
  std::shared_ptr<Updater> updater_;
  std::optional<GradientCompression> compression_;
  Traffic traffic_;

 private:
  const std::string type_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_KVSTORE_WITH_VALUES_H_
