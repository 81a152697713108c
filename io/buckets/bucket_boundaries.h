#ifndef COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_
#define COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_

// Chooses the buckets that minimise padding, or time, for sentences of given lengths.
// bucket_tuples.h chooses buckets for pairs of lengths and for shapes of images.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// Options of ChooseBuckets. Without any of them the buckets have the least padding that max_buckets
// buckets can have.
struct BucketBoundariesOptions {
  int max_buckets = 10;
  // Every bucket is a multiple of this number, such as a vector unit's width.
  int64_t multiple_of = 1;
  // The cost of one more bucket (binding, plans, switching), in padded tokens or in the unit of
  // step_cost. Fewer than max_buckets buckets are chosen if another one saves no more than this.
  double bucket_cost = 0;
  // For steps whose cost is not proportional to their length: a sentence in a bucket of length n
  // costs n + step_overhead.
  double step_overhead = 0;
  // Replaces n + step_overhead, for example by the measured time of a step with buckets of length
  // n, divided by the batch size. Must not fall as n grows. Called once per candidate bucket.
  std::function<double(int64_t n)> step_cost;
  // The minimum number of sentences of a bucket, unless there are fewer in all: sentences that do
  // not fill a batch may never be served.
  int64_t min_sentences = 1;

  // The maximum length of a bucket, if positive.
  int64_t max_length = 0;
  // The treatment of sentences that exceed every bucket because of max_length.
  enum class TooLong {
    kDiscard,   // they are left out
    kTruncate,  // their end is cut off
    kSplit,     // they become several sentences: pieces of the greatest length, and the rest
    kError,     // kInvalidArgument
  };
  TooLong too_long = TooLong::kDiscard;
};

// Chosen buckets, and what they cost.
struct BucketBoundaries {
  std::vector<int64_t> buckets;  // rising; the last one holds the longest sentence
  int64_t tokens = 0;            // of all sentences, without discarded and truncated tokens
  int64_t padded_tokens = 0;     // the tokens together with padding in these buckets
  double cost = 0;               // the minimised cost
  // The numbers of sentences that exceed max_length, by treatment.
  int64_t discarded = 0;
  int64_t truncated = 0;
  int64_t split = 0;
};

// Returns the buckets of least cost for sentences of these lengths: no other choice of at most
// max_buckets buckets costs less. Among equal choices it returns the one with fewer buckets.
// Lengths of 0 are ignored. O(lengths + k * d * log(d)) time and O(lengths + k * d) memory for d
// different lengths and k buckets. kInvalidArgument, with the value at fault, if no length is
// positive or none is within max_length, one is negative, step_cost falls or is not finite, or an
// option is out of range.
absl::StatusOr<BucketBoundaries> ChooseBuckets(absl::Span<const int64_t> lengths,
                                               const BucketBoundariesOptions& options = {});

// Returns the lengths of sentences, for ChooseBuckets.
std::vector<int64_t> LengthsOf(absl::Span<const std::vector<int>> sentences);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_BOUNDARIES_H_
