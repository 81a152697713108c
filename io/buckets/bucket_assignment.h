#ifndef COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_
#define COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_

// Assigns each sample of a data set to a bucket, by its extents or by a function, without copying
// samples.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/ragged_array.h"

namespace cooper {

// One array per sample, and the elements of a key that its axes are padded to.
struct KeyedArray {
  std::string name;  // for messages
  RaggedArray values;
  std::vector<int> pad_to;  // by axis: index of an element of the key, or -1
  bool is_data = true;      // whether its padding counts
};

// The samples of each bucket.
struct BucketAssignment {
  // A bucket and the samples that belong to it. A sample is in one bucket at most.
  struct Bucket {
    BucketKey key;
    std::vector<int64_t> ids;  // of samples, rising
  };
  std::vector<Bucket> buckets;   // in rising order of their keys, none empty
  int64_t discarded = 0;         // samples without a bucket
  int64_t first_discarded = -1;  // the first of them; -1: none
  int64_t truncated = 0;         // samples with extents that exceed their bucket's
};

// Returns the cost of a sample in a bucket, given the elements of the bucket's key.
using KeyCost = std::function<double(absl::Span<const int64_t> key)>;

// Returns the elements of a key that axes can follow: an integer itself, the elements of a tuple,
// none for a string.
BucketKey::Tuple KeyElements(const BucketKey& key);

// Assigns each sample to the bucket that holds it with the fewest padded elements of data, or with
// the least `cost` if that is not null; ties go to the smaller key. Samples that no bucket holds
// are discarded or, with `truncate`, go to the bucket that keeps most of their elements. With
// integer keys each sample goes to the smallest bucket that holds it, regardless of cost. O(samples
// * buckets) time; O(samples * log(buckets)) for integer keys. Errors, here and below:
// kInvalidArgument for a key that lacks an element, is a string, or has an element below 1.
absl::StatusOr<BucketAssignment> AssignToBuckets(absl::Span<const KeyedArray> arrays,
                                                 int64_t num_samples, std::vector<BucketKey> keys,
                                                 bool truncate, const KeyCost& cost = nullptr);

// Assigns sample i to the bucket keys[i]; nullopt discards it. A sample that exceeds its key is an
// error unless `truncate`.
absl::StatusOr<BucketAssignment> AssignByKey(absl::Span<const KeyedArray> arrays,
                                             absl::Span<const std::optional<BucketKey>> keys,
                                             bool truncate);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_
