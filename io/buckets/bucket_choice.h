#ifndef COOPER_IO_BUCKETS_BUCKET_CHOICE_H_
#define COOPER_IO_BUCKETS_BUCKET_CHOICE_H_

// Chooses the bucket keys for the arrays of a data set by their padded size, consistently with the
// assignment of samples in bucket_assignment.h.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_assignment.h"

namespace cooper {

// Options of ChooseKeys.
struct BucketChoice {
  int max_buckets = 1;
  double bucket_cost = 0;  // in padded elements of data, or in the unit of step_cost
  // Returns the cost of a sample in a bucket, given the elements of its key; null: the number of
  // its padded elements of data.
  KeyCost step_cost;
  int64_t multiple_of = 1;       // for every element of a key
  BucketKey::Tuple max_extents;  // by element of a key, 0: no limit; empty: none
  bool truncate = false;         // whether samples beyond max_extents are truncated or left out
  int64_t min_samples = 1;       // minimum per bucket
};

// Returns the cost function that ChooseKeys uses. For tuple keys AssignToBuckets must use the same
// function: with another one some buckets might get fewer than min_samples.
KeyCost CostOfKeys(absl::Span<const KeyedArray> arrays, int64_t num_samples,
                   const BucketChoice& choice);

// Returns integer keys if axes follow only element 0 of the key, else tuples (bucket_boundaries.h,
// bucket_tuples.h). A bucket has room for all arrays of a sample, and its cost is the number of
// elements of the data arrays; an axis that follows no element counts with its mean extent.
// kInvalidArgument if no axis follows the key, or the choice fails.
absl::StatusOr<std::vector<BucketKey>> ChooseKeys(absl::Span<const KeyedArray> arrays,
                                                  int64_t num_samples, const BucketChoice& choice);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_CHOICE_H_
