#ifndef COOPER_IO_BUCKETS_BUCKET_TUPLES_H_
#define COOPER_IO_BUCKETS_BUCKET_TUPLES_H_

// Chooses buckets for samples with several extents: pairs of an encoder's and a decoder's length,
// heights and widths of images. bucket_boundaries.h chooses buckets for one length.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"

namespace cooper {

// Options of ChooseBucketTuples. Without the others the choice is that of the least padding.
struct BucketTuplesOptions {
  int max_buckets = 10;
  // Every element of every bucket is a multiple of this number.
  int64_t multiple_of = 1;
  // The cost of one more bucket in the unit of step_cost. Fewer than max_buckets buckets are chosen
  // where that is cheaper.
  double bucket_cost = 0;
  // Returns the cost of a sample in a bucket; null: the sum of the bucket's elements, which is the
  // padded tokens of a pair. For images use the product. At least 0; must not fall as an element
  // grows.
  std::function<double(absl::Span<const int64_t> bucket)> step_cost;

  // The minimum number of samples of a bucket, unless there are fewer in all: samples that do not
  // fill a batch may never be served. A smaller bucket is merged with another, which in 1,000
  // random problems of 10 pairs cost on average 2.4 % more than the best choice.
  int64_t min_samples = 1;

  // If not empty, limits the elements of all buckets; 0 is no limit.
  BucketKey::Tuple max_extents;
  // The treatment of samples that exceed every bucket because of max_extents. kSplit is not
  // supported.
  BucketBoundariesOptions::TooLong too_long = BucketBoundariesOptions::TooLong::kDiscard;

  // All choices are tried if that takes at most this many steps, one step being one group of equal
  // samples in one choice.
  double max_steps = 2e7;
};

// Chosen buckets, and what they cost.
struct BucketTuples {
  std::vector<BucketKey::Tuple> buckets;  // in rising order
  double own_cost = 0;     // cost of the samples, each in a bucket of its own extents
  double padded_cost = 0;  // cost of the samples in these buckets
  double cost = 0;         // the minimised cost: padded_cost plus bucket_cost for each bucket
  bool exact = false;      // whether all choices were tried and no bucket was merged
  // A lower bound of the cost of every choice: `cost` is at most cost / lower_bound times the
  // optimum. Equal to cost if exact.
  double lower_bound = 0;
  // The numbers of samples that exceed max_extents, by treatment.
  int64_t discarded = 0;
  int64_t truncated = 0;
};

// Returns buckets of low cost for samples of these extents. Each sample goes to the cheapest bucket
// that holds it, that is, one that it exceeds in no element.
//
// The best boundaries of one length are found quickly; for pairs only algorithms exponential in the
// number of buckets are known. If max_steps allows, all choices among the joins of samples (the
// elementwise maxima of their extents) are tried, and the result is optimal. Otherwise a choice is
// improved by exchanging single buckets until that saves nothing (bucket_search.h). In 10,000
// random problems that were solved in both ways the second one was not optimal for 21, at worst by
// 3.9 % (bucket_tuples_test.cc with COOPER_RANDOM_CASES). That is no guarantee, but lower_bound is
// one for each choice: it follows from the exact best boundaries of each element alone.
//
// If the values that occur form a grid of more than 1,024 points, the search uses a thinner grid of
// at most as many points, whose lines are the best boundaries of each element alone; the buckets
// then move away from its lines, one element at a time. For n samples, d of them with different
// extents, and k buckets, the search takes O(n + d) memory besides the grid. Its time is the sum of
//
//   - O(n) to count the samples;
//   - some rounds of exchanges for each number of buckets up to k + 2 and for each restart
//     (bucket_search.h), each of at most min(d, 1024) * 1024 steps;
//   - at most four rounds of moves, each of O(k * d * (k + log(d))) steps;
//   - O(k^2 * d) for each bucket of fewer than min_samples, to find the best one to merge it with
//     (MergeSmallBuckets);
//   - the time of the lower bound (CostLowerBound in bucket_grid.h).
//
// A million pairs of up to 60 words take 0.03 s in 10 buckets and 0.09 s in 64, pairs of up to 500
// words 0.4 and 2.8 s.
//
// Extents of 0 count as 1; samples with no other extents are ignored. kInvalidArgument, with the
// value at fault, if extents differ in rank or one is negative, no sample is left, step_cost is
// negative or falls, or an option is out of range.
absl::StatusOr<BucketTuples> ChooseBucketTuples(absl::Span<const BucketKey::Tuple> extents,
                                                const BucketTuplesOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_TUPLES_H_
