#ifndef COOPER_IO_BUCKETS_BUCKET_CHOICE_H_
#define COOPER_IO_BUCKETS_BUCKET_CHOICE_H_

// Chooses the keys of buckets for the arrays of a data set, as bucket_assignment.h puts samples
// into buckets: by what the arrays take with padding.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_assignment.h"

namespace cooper {

struct BucketChoice {
  int max_buckets = 1;
  double bucket_cost = 0;  // in padded elements of data, or in what step_cost counts
  // What a sample costs in a bucket, by the elements of its key; null: its padded elements of data.
  KeyCost step_cost;
  int64_t multiple_of = 1;       // of every element of a key
  BucketKey::Tuple max_extents;  // by element of a key, 0: no limit; empty: none
  bool truncate = false;         // whether samples beyond max_extents are cut, or left out
  int64_t min_samples = 1;       // of a bucket
};

// What ChooseKeys takes a sample to cost in a bucket. For tuples that say where samples go
// (AssignToBuckets): by another rule some might have fewer than min_samples.
KeyCost CostOfKeys(absl::Span<const KeyedArray> arrays, int64_t num_samples,
                   const BucketChoice& choice);

// Integers, if no axis follows an element of the key but 0; else tuples (bucket_boundaries.h,
// bucket_tuples.h). A bucket has room for all arrays of a sample, and costs as many elements as
// those of data have then; an axis that follows nothing counts as it is in the mean.
// kInvalidArgument if no axis follows the key, or the choice fails.
absl::StatusOr<std::vector<BucketKey>> ChooseKeys(absl::Span<const KeyedArray> arrays,
                                                  int64_t num_samples, const BucketChoice& choice);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_CHOICE_H_
