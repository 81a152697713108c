#ifndef COOPER_TOOLS_BUCKETS_BUCKET_COMPARISON_H_
#define COOPER_TOOLS_BUCKETS_BUCKET_COMPARISON_H_

// Computes the padding and cost of samples of given lengths for each number of buckets, and
// recommends the number beyond which one more bucket saves less than it costs. Buckets are chosen
// by io/buckets/bucket_boundaries.h and io/buckets/bucket_tuples.h.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {

// Options of CompareBuckets.
struct BucketComparisonOptions {
  int max_buckets = 16;  // at most 64
  // Cost of one more bucket, in padded tokens. Negative: 1 % of the tokens.
  double bucket_cost = -1;
  int64_t multiple_of = 1;
  // A sample in a bucket of length n costs n + step_overhead; in one of lengths n and m, the sum of
  // both.
  double step_overhead = 0;
  int64_t max_length = 0;  // of each element; 0: none
  BucketBoundariesOptions::TooLong too_long = BucketBoundariesOptions::TooLong::kDiscard;
  // Least number of samples in a bucket of single lengths. 0: no limit.
  int64_t batch_size = 0;
  // Buckets to compare with, in any order; not for pairs.
  std::vector<int64_t> in_use;
};

// Returns the fraction of padding in `padded` tokens that hold `tokens` real ones.
double PaddingShare(int64_t tokens, int64_t padded);

// The best choice of at most a given number of buckets.
struct BucketSet {
  std::vector<BucketKey::Tuple> buckets;  // rising; of one element, or two of pairs
  int64_t padded_tokens = 0;
  double cost = 0;  // of all samples, without bucket_cost
};

// A bucket and the samples in it.
struct BucketRow {
  BucketKey::Tuple bucket;
  int64_t samples = 0;
  int64_t tokens = 0;  // without padding
  int64_t padded_tokens = 0;

  double padding() const { return PaddingShare(tokens, padded_tokens); }
};

// The result of CompareBuckets.
struct BucketComparison {
  // by_number[k - 1] has k buckets. Ends with max_buckets, or where one more saves nothing.
  std::vector<BucketSet> by_number;
  int recommended = 0;          // the number of buckets
  std::vector<BucketRow> rows;  // the recommended buckets
  double bucket_cost = 0;       // the value that was used
  // The buckets of in_use, rising; samples longer than all of them are in none.
  std::vector<BucketRow> rows_in_use;

  // Totals of the samples in buckets, without discarded samples and truncated tokens.
  int64_t samples = 0;
  int64_t tokens = 0;
  double min_cost = 0;  // if every sample were in a bucket of its own length

  // Samples that exceed max_length, and the tokens lost with them.
  int64_t discarded = 0, truncated = 0, split = 0;
  int64_t lost_tokens = 0;

  const BucketSet& best() const { return by_number[recommended - 1]; }
  double Padding(const BucketSet& set) const { return PaddingShare(tokens, set.padded_tokens); }
};

// Compares 1 to max_buckets buckets. Fails with kInvalidArgument, naming it, if an option is out of
// range; pairs cannot be split. Takes the time of max_buckets calls of ChooseBuckets or
// ChooseBucketTuples.
absl::StatusOr<BucketComparison> CompareBuckets(const SampleLengths& lengths,
                                                const BucketComparisonOptions& options);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKETS_BUCKET_COMPARISON_H_
