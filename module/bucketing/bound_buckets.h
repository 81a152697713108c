#ifndef COOPER_MODULE_BUCKETING_BOUND_BUCKETS_H_
#define COOPER_MODULE_BUCKETING_BOUND_BUCKETS_H_

// The buckets of a BucketingModule that are bound at present, and which of them is in use. Evicts
// the least recently used ones where their number or size is limited.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "io/batch/bucket_key.h"
#include "module/network/module.h"

namespace cooper {

// Memory and bind time of one bound bucket.
struct BucketReport {
  BucketKey key;
  MemoryReport memory;
  // The plan that Score and Predict run next to the one for training; zeros if there is none.
  MemoryReport evaluation;
  // Graphs, programs and plans of both, without the arena: an estimate (Module::footprint_bytes).
  int64_t footprint_bytes = 0;
  // Seconds of creating the symbol and binding it, summed over threads. PrepareAll works on several
  // buckets at the same time, so the sum over buckets can exceed its own duration.
  double bind_seconds = 0;
};

// A key may be bound twice: as Bind asks for (kBound), and without gradients where that is for
// training (kEvaluation). Pointers to buckets are valid until these are evicted. Not thread-safe.
class BoundBuckets {
 public:
  // The purpose of a bucket: the one that Bind asks for, or an evaluation, without gradients,
  // during a training.
  enum class Purpose { kBound, kEvaluation };
  // A bound bucket. last_use is the number of the call that used it last.
  struct Bucket {
    std::unique_ptr<Module> module;
    double bind_seconds = 0;
    uint64_t last_use = 0;
  };

  // At most max_buckets buckets of both purposes, and max_bytes bytes of them all, stay bound; 0:
  // no limit.
  BoundBuckets(int max_buckets, int64_t max_bytes)
      : max_buckets_(max_buckets), max_bytes_(max_bytes) {}

  // The bucket in use; null before SetCurrent.
  Bucket* current() const { return current_; }
  // The bucket that computed the last outputs: one that SetEvaluated was called with, else the
  // current one; null before SetCurrent.
  Bucket* active() const { return evaluated_ != nullptr ? evaluated_ : current_; }
  // The buckets must be bound ones. They are not evicted until others take their places. Null for
  // SetEvaluated: the current one computes.
  void SetCurrent(Bucket* bucket) { current_ = bucket; }
  void SetEvaluated(Bucket* bucket) { evaluated_ = bucket; }

  // Returns the bucket; null if it is not bound.
  Bucket* Find(Purpose purpose, const BucketKey& key);
  Module* FindModule(Purpose purpose, const BucketKey& key) const;
  void MarkUsed(Bucket& bucket) { bucket.last_use = ++uses_; }
  // Adds a bucket that is not bound, marked as used.
  Bucket* Add(Purpose purpose, const BucketKey& key, Bucket bucket);
  // Evicts buckets until the rest satisfies the limits; MakeRoom counts one more that is about to
  // be bound, of `bytes` bytes.
  void Evict() { EvictFor(0, 0); }
  void MakeRoom(int64_t bytes = 0) { EvictFor(1, bytes); }

  // The buckets of one purpose.
  const std::map<BucketKey, Bucket>& all(Purpose purpose) const {
    return purpose == Purpose::kBound ? bound_ : evaluation_;
  }
  // Calls `call` for all modules, up to the first error.
  absl::Status Each(const std::function<absl::Status(Module&)>& call) const;
  // Returns a report for each key, in order. Keys bound only for evaluation have an empty `memory`.
  std::vector<BucketReport> Report() const;
  // The bytes that max_bytes limits.
  int64_t footprint_bytes() const;

 private:
  void EvictFor(size_t count, int64_t bytes);

  int max_buckets_;
  int64_t max_bytes_;
  std::map<BucketKey, Bucket> bound_, evaluation_;
  Bucket* current_ = nullptr;
  Bucket* evaluated_ = nullptr;
  uint64_t uses_ = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BOUND_BUCKETS_H_
