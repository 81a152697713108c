#ifndef COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_
#define COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_

// Says which bucket each sample of a data set goes to, by extents or by a function. Copies nothing.

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

// One array of each sample, and which elements of a key its axes follow.
struct KeyedArray {
  std::string name;  // for messages
  RaggedArray values;
  std::vector<int> pad_to;  // by axis: an element of the key, or -1
  bool is_data = true;      // whether its padding counts
};

struct BucketAssignment {
  struct Bucket {
    BucketKey key;
    std::vector<int64_t> ids;  // of samples, rising
  };
  std::vector<Bucket> buckets;   // in rising order of their keys, none empty
  int64_t discarded = 0;         // samples without a bucket
  int64_t first_discarded = -1;  // the first of them; -1: none
  int64_t truncated = 0;         // samples with extents that exceed their bucket's
};

// What a sample costs in a bucket, by the elements of its key.
using KeyCost = std::function<double(absl::Span<const int64_t> key)>;

// The elements of a key that axes can follow: an integer itself, those of a tuple, none of a
// string.
BucketKey::Tuple KeyElements(const BucketKey& key);

// Each sample goes to the bucket that holds it with the fewest padded elements of data, or at the
// least `cost`, if that is not null; of equal ones to the one with the smaller key. Those that none
// holds are discarded, or, with `truncate`, go where most of their elements stay. Of integer keys
// it is the smallest whatever they cost. O(samples * buckets) time; for integer keys, samples *
// log(buckets). All errors here are kInvalidArgument: a key that lacks an element, is a string, or
// has an element below 1.
absl::StatusOr<BucketAssignment> AssignToBuckets(absl::Span<const KeyedArray> arrays,
                                                 int64_t num_samples, std::vector<BucketKey> keys,
                                                 bool truncate, const KeyCost& cost = nullptr);

// Sample i goes to the bucket keys[i]; nullopt discards it. A sample that exceeds its key is an
// error unless `truncate`.
absl::StatusOr<BucketAssignment> AssignByKey(absl::Span<const KeyedArray> arrays,
                                             absl::Span<const std::optional<BucketKey>> keys,
                                             bool truncate);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_ASSIGNMENT_H_
