#ifndef COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_
#define COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_

// Chooses the buckets that leave the least padding, or cost the least time, for sentences of given
// lengths. Buckets that are pairs of lengths, or shapes of images: bucket_tuples.h.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

struct BucketBoundariesOptions {
  int max_buckets = 10;
  // Every bucket is a multiple of it, such as a vector unit's width.
  int64_t multiple_of = 1;
  // What one more bucket costs (binding, plans, switching), in padded tokens, or in what step_cost
  // counts. Fewer buckets than max_buckets are chosen where one more saves no more than that.
  double bucket_cost = 0;
  // The cost of a step of a batch may not be proportional to its length: that of a sentence in a
  // bucket of length n is n + step_overhead.
  double step_overhead = 0;
  // In place of n + step_overhead, such as the measured time of a step by the length of its bucket,
  // divided by the batch size. Must not fall as n grows. Called once for each possible bucket.
  std::function<double(int64_t n)> step_cost;
  // No bucket has fewer sentences, unless there are fewer in all: those that fill no batch may
  // never be served.
  int64_t min_sentences = 1;

  // If positive, no bucket is longer.
  int64_t max_length = 0;
  // What is done with sentences for which every bucket is too short then.
  enum class TooLong {
    kDiscard,   // they are left out
    kTruncate,  // their end is cut off
    kSplit,     // they are several sentences: whole ones of the greatest length, and the rest
    kError,     // kInvalidArgument
  };
  TooLong too_long = TooLong::kDiscard;
};

struct BucketBoundaries {
  std::vector<int64_t> buckets;  // rising; the last one holds the longest sentence
  int64_t tokens = 0;            // of all sentences, without what is discarded or cut off
  int64_t padded_tokens = 0;     // the same, with the padding of these buckets
  double cost = 0;               // what was minimised
  // Sentences that max_length concerned.
  int64_t discarded = 0;
  int64_t truncated = 0;
  int64_t split = 0;
};

// The buckets of least cost for sentences of these lengths: no other choice of at most max_buckets
// buckets costs less. Of equal ones the choice with fewer buckets. Lengths of 0 are left out.
// O(lengths + k * d * log(d)) time and O(lengths + k * d) memory for d different lengths and k
// buckets. kInvalidArgument, with the number that is wrong, if no length is positive or none is
// within max_length, one is negative, step_cost falls or is not finite, or an option is out of
// range.
absl::StatusOr<BucketBoundaries> ChooseBuckets(absl::Span<const int64_t> lengths,
                                               const BucketBoundariesOptions& options = {});

// The lengths of sentences, for ChooseBuckets.
std::vector<int64_t> LengthsOf(absl::Span<const std::vector<int>> sentences);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_
