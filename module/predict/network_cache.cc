#include "module/predict/network_cache.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

NetworkCache::NetworkPtr NetworkCache::Find(const BucketKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = networks_.find(key);
  if (it == networks_.end()) return nullptr;
  it->second.used = ++num_calls_;
  return it->second.network;
}

void NetworkCache::Insert(const BucketKey& key, NetworkPtr network) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (networks_.size() == capacity_) {
    networks_.erase(std::min_element(
        networks_.begin(), networks_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
  networks_[key] = {.network = std::move(network), .used = ++num_calls_};
}

absl::StatusOr<NetworkCache::NetworkPtr> NetworkCache::Get(const BucketKey& key) {
  if (NetworkPtr network = Find(key)) return network;
  const std::lock_guard<std::recursive_mutex> lock(making_mutex_);
  // Another thread may have made the network in the meantime.
  if (NetworkPtr network = Find(key)) return network;
  if (!making_.insert(key).second) {
    return absl::FailedPreconditionError(absl::StrCat("the function that makes the network of ",
                                                      key.ToString(), " requests that network"));
  }
  // Also erases the key if `make_` throws, so that the key can be requested again.
  struct Making {
    ~Making() { keys.erase(key); }
    std::set<BucketKey>& keys;
    const BucketKey& key;
  };
  absl::StatusOr<InferenceNetwork> inference = [&] {
    const Making making{.keys = making_, .key = key};
    return make_(key);
  }();
  if (!inference.ok()) return inference.status();
  NetworkPtr network = std::make_shared<const CachedNetwork>(
      CachedNetwork{.inference = *std::move(inference), .number = num_made_++});
  Insert(key, network);
  return network;
}

}  // namespace cooper
