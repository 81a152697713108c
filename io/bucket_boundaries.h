#ifndef COOPER_IO_BUCKET_BOUNDARIES_H_
#define COOPER_IO_BUCKET_BOUNDARIES_H_

// Chooses the buckets that leave the least padding.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

struct BucketBoundariesOptions {
  int max_buckets = 10;
  // Every bucket is a multiple of it, such as a vector unit's width.
  int64_t multiple_of = 1;
  // What one more bucket costs (binding, plans, switching), in padded tokens. Fewer buckets than
  // max_buckets are chosen where one more saves less.
  double bucket_cost = 0;
  // The cost of a step of a batch may not be proportional to its length: that of a sentence in a
  // bucket of length n is n + step_overhead.
  double step_overhead = 0;
};

struct BucketBoundaries {
  std::vector<int64_t> buckets;  // rising; the last one holds the longest sentence
  int64_t tokens = 0;            // of all sentences
  int64_t padded_tokens = 0;     // the same, with the padding of these buckets
  double cost = 0;               // what was minimised
};

// The buckets of least cost for sentences of these lengths, by dynamic programming: no other choice
// of at most max_buckets buckets costs less. O(max_buckets * d^2) time for d different lengths.
// Lengths of 0 are left out. kInvalidArgument if no length is positive, one is negative, or an
// option is out of range.
absl::StatusOr<BucketBoundaries> ChooseBuckets(absl::Span<const int64_t> lengths,
                                               const BucketBoundariesOptions& options = {});

// The lengths of sentences, for ChooseBuckets.
std::vector<int64_t> LengthsOf(absl::Span<const std::vector<int>> sentences);

}  // namespace cooper

#endif  // COOPER_IO_BUCKET_BOUNDARIES_H_
