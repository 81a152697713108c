#ifndef COOPER_MODULE_PREDICT_NETWORK_CACHE_H_
#define COOPER_MODULE_PREDICT_NETWORK_CACHE_H_

// A cache of a predictor's networks by key.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "module/predict/inference_network.h"

namespace cooper {

// A network with a number that identifies it.
struct CachedNetwork {
  InferenceNetwork inference;
  int64_t number = 0;  // unique in the cache, also among earlier networks of the key
};

// Thread-safe. Networks are shared with the caller: one that leaves the cache lives as long as a
// call uses it.
class NetworkCache {
 public:
  using Make = std::function<absl::StatusOr<InferenceNetwork>(const BucketKey& key)>;
  using NetworkPtr = std::shared_ptr<const CachedNetwork>;

  // Keeps at most `capacity` networks, at least 1: the most recently used ones.
  NetworkCache(size_t capacity, Make make) : capacity_(capacity), make_(std::move(make)) {}

  // Returns the network of `key`, and calls `make` if it is not cached, on one thread at a time;
  // calls with cached keys do not wait for that. `make` may itself request other keys. Errors:
  // those of `make`; kFailedPrecondition, with the key, if `make` requests the key that it makes.
  // An exception of `make` propagates, and the key may be requested again. A hit costs a search by
  // key under a lock; a miss compiles a network, which takes as long as `make`.
  absl::StatusOr<NetworkPtr> Get(const BucketKey& key);

 private:
  struct Kept {
    NetworkPtr network;
    uint64_t used = 0;  // number of calls at the last use
  };

  NetworkPtr Find(const BucketKey& key);
  void Insert(const BucketKey& key, NetworkPtr network);

  const size_t capacity_;
  const Make make_;

  std::recursive_mutex making_mutex_;  // held while a network is made, recursively
  std::set<BucketKey> making_;
  int64_t num_made_ = 0;

  std::mutex mutex_;  // guards the members below; always the last to be locked
  std::map<BucketKey, Kept> networks_;
  uint64_t num_calls_ = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_NETWORK_CACHE_H_
