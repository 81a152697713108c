#ifndef COOPER_IO_BUCKETS_BUCKET_TUPLES_H_
#define COOPER_IO_BUCKETS_BUCKET_TUPLES_H_

// Chooses buckets for samples with several extents: pairs of an encoder's and a decoder's length,
// heights and widths of images. Those of one length: bucket_boundaries.h.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"

namespace cooper {

struct BucketTuplesOptions {
  int max_buckets = 10;
  // Every element of every bucket is a multiple of it.
  int64_t multiple_of = 1;
  // What one more bucket costs, in what step_cost counts. Fewer buckets than max_buckets are chosen
  // where that is cheaper.
  double bucket_cost = 0;
  // The cost of a sample in a bucket; null: the sum of the bucket's elements, which is the padded
  // tokens of a pair. Of an image it is the product. At least 0, and must not fall as an element
  // grows.
  std::function<double(absl::Span<const int64_t> bucket)> step_cost;

  // No bucket has fewer samples, unless there are fewer in all: those that fill no batch may never
  // be served. Where the choice has such a bucket it is united with another, which in 1,000 random
  // problems of 10 pairs cost 2.4 % more than the best choice in the mean.
  int64_t min_samples = 1;

  // If not empty, no bucket's element exceeds that of max_extents; 0 is no limit.
  BucketKey::Tuple max_extents;
  // What is done with samples for which every bucket is too small then. Not kSplit.
  BucketBoundariesOptions::TooLong too_long = BucketBoundariesOptions::TooLong::kDiscard;

  // All choices are tried where that takes at most so many steps, a step being one sample (of those
  // with different extents) in one choice.
  double max_steps = 2e7;
};

struct BucketTuples {
  std::vector<BucketKey::Tuple> buckets;  // in rising order
  double own_cost = 0;                    // of the samples, each in a bucket of its own extents
  double padded_cost = 0;                 // the same in these buckets
  double cost = 0;                        // what was minimised: padded_cost and bucket_cost
  bool exact = false;                     // whether all choices were tried, and none united
  // No choice costs less: `cost` is at most cost / lower_bound times that of the best one. Equal to
  // cost if exact.
  double lower_bound = 0;
  // Samples that max_extents concerned.
  int64_t discarded = 0;
  int64_t truncated = 0;
};

// Buckets of little cost for samples of these extents, each of which goes to the cheapest one that
// holds it: a bucket holds extents of which none exceeds its own.
//
// Best boundaries of one length are quickly found; of pairs no way is known that does not take time
// exponential in the number of buckets. Where max_steps allows it all choices are tried, among the
// joins of samples (the largest of their extents, by element), and none costs less. Else a choice
// is improved by exchanging single buckets until that saves nothing (bucket_search.h). Of 10,000
// random problems that were solved both ways it cost too much in 21, at worst 3.9 %
// (bucket_tuples_test.cc with COOPER_RANDOM_CASES). That is no guarantee, but lower_bound is one
// for each choice: what the best boundaries of each element alone, found exactly, leave to pay.
//
// If there are more than 1,024 points with an element of each, the search is on a grid of so many,
// whose lines are the best boundaries of each element alone; the buckets then move beside its
// lines, an element at a time. For n samples, d of them with different extents, and k buckets:
// O(n + d) memory beside the grid; O(n) time for counting, some rounds of exchange for each of k
// numbers of buckets, of min(d, 1024) * 1024 steps at the most, and at most four rounds of moves,
// of O(k * d * (k + log(d))) steps; then, for each bucket of fewer than min_samples, O(k^2 * d) to
// find the one that it is best united with (UniteSmallBuckets). A million pairs of up to 60 words
// take 0.03 s in 10 buckets and 0.09 s in 64, those of up to 500 words 0.4 and 2.8 s.
//
// Extents of 0 count as 1; samples that have no others are left out. kInvalidArgument, naming the
// number, if extents differ in number or one is negative, no sample is left, step_cost is negative
// or falls, or an option is out of range.
absl::StatusOr<BucketTuples> ChooseBucketTuples(absl::Span<const BucketKey::Tuple> extents,
                                                const BucketTuplesOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_TUPLES_H_
