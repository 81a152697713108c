#include "module/kvstore/kvstore.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// std::less<> allows lookup without a copy of the name.
using FactoryMap = std::map<std::string, KVStoreFactory, std::less<>>;

FactoryMap& Factories() {
  static auto* factories = new FactoryMap;
  return *factories;
}

}  // namespace

absl::Status KVStore::PushPull(const std::string& key, absl::Span<const NDArray> values,
                               absl::Span<const NDArray> outs) {
  COOPER_RETURN_IF_ERROR(Push(key, values));
  return Pull(key, outs);
}

absl::Status KVStore::Broadcast(const std::string& key, const NDArray& value,
                                absl::Span<const NDArray> outs) {
  COOPER_RETURN_IF_ERROR(Init(key, value));
  return Pull(key, outs);
}

absl::StatusOr<KVStepInfo> KVStore::Step(absl::Span<const KVItem> items, bool active) {
  COOPER_RETURN_IF_ERROR(InitAll(items));
  for (const KVItem& item : items)
    COOPER_RETURN_IF_ERROR(PushPull(item.key, item.grads, item.outs));
  stop_ = std::max(stop_, requested_stop_);
  return KVStepInfo{.active_workers = active ? 1 : 0, .others = {}};
}

absl::Status KVStore::SetBuckets(const KVBuckets& buckets) {
  if (buckets.bytes <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("kvstore: buckets of gradients of ",
                                                   buckets.bytes, " bytes, expected more than 0"));
  }
  buckets_ = buckets;
  return absl::OkStatus();
}

absl::Status KVStore::Claim(const std::shared_ptr<const void>& owner,
                            absl::Span<const std::string> keys) {
  for (const std::string& key : keys) {
    const auto it = owners_.find(key);
    if (it == owners_.end() || it->second.expired() || it->second.lock() == owner) continue;
    return absl::AlreadyExistsError(absl::StrCat(
        "kvstore: key '", key, "' is that of another module; give each a store of its own"));
  }
  for (const std::string& key : keys) owners_[key] = owner;
  return absl::OkStatus();
}

absl::Status KVStore::Reclaim(const std::shared_ptr<const void>& owner,
                              absl::Span<const std::string> keys) {
  COOPER_RETURN_IF_ERROR(Claim(owner, keys));
  std::vector<std::string> stale;
  for (auto it = owners_.begin(); it != owners_.end();) {
    const std::shared_ptr<const void> of_key = it->second.lock();
    if (of_key == nullptr || of_key == owner) stale.push_back(it->first);
    it = of_key == nullptr ? owners_.erase(it) : std::next(it);
  }
  Forget(stale);
  return absl::OkStatus();
}

absl::Status KVStore::SetOptimizer(std::shared_ptr<Optimizer> optimizer) {
  return SetUpdater(std::make_shared<Updater>(std::move(optimizer)));
}

absl::Status KVStore::SaveOptimizerStates(const std::string& path) const {
  if (updater() == nullptr) {
    return absl::FailedPreconditionError("SaveOptimizerStates: call SetOptimizer first");
  }
  return updater()->SaveStates(path);
}

absl::Status KVStore::LoadOptimizerStates(const std::string& path) {
  if (updater() == nullptr) {
    return absl::FailedPreconditionError("LoadOptimizerStates: call SetOptimizer first");
  }
  return updater()->LoadStates(path);
}

absl::StatusOr<std::unique_ptr<KVStore>> CreateKVStore(absl::string_view type) {
  const auto it = Factories().find(type);
  if (it != Factories().end()) return it->second(type);
  return absl::InvalidArgumentError(absl::StrCat(
      "kvstore '", type, "' is unknown; linked are ",
      absl::StrJoin(Factories(), ", ",
                    [](std::string* out, const auto& factory) { out->append(factory.first); })));
}

bool RegisterKVStore(const std::string& type, KVStoreFactory factory) {
  Factories()[type] = factory;
  return true;
}

}  // namespace cooper
