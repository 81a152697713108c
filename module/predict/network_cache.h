#ifndef COOPER_MODULE_PREDICT_NETWORK_CACHE_H_
#define COOPER_MODULE_PREDICT_NETWORK_CACHE_H_

// The networks that a predictor has made, by key.

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

struct CachedNetwork {
  InferenceNetwork inference;
  int64_t number = 0;  // no other of the same cache has it, also none of the same key before
};

// Thread-safe.
class NetworkCache {
 public:
  using Make = std::function<absl::StatusOr<InferenceNetwork>(const BucketKey& key)>;
  using NetworkPtr = std::shared_ptr<const CachedNetwork>;

  // Keeps at most so many, at least 1: those that were asked for last.
  NetworkCache(size_t capacity, Make make) : capacity_(capacity), make_(std::move(make)) {}

  // The network of `key`. One that is not kept is made, by one thread at a time, for which calls
  // with keys that are kept do not wait; `make` may itself ask for other keys. Errors are those of
  // `make`, and kFailedPrecondition, with the key, if it asks for the one that it makes. What
  // `make` throws goes through, and the key may be asked for again.
  absl::StatusOr<NetworkPtr> Get(const BucketKey& key);

 private:
  struct Kept {
    NetworkPtr network;
    uint64_t used = 0;  // the count of calls when it was asked for last
  };

  NetworkPtr Find(const BucketKey& key);
  void Insert(const BucketKey& key, NetworkPtr network);

  const size_t capacity_;
  const Make make_;

  std::recursive_mutex making_mutex_;  // held while one is made, which may make others
  std::set<BucketKey> making_;
  int64_t num_made_ = 0;

  std::mutex mutex_;  // of what follows; the last to be taken
  std::map<BucketKey, Kept> networks_;
  uint64_t num_calls_ = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_NETWORK_CACHE_H_
