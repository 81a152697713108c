#ifndef COOPER_IO_BUCKETS_BUCKET_GRID_H_
#define COOPER_IO_BUCKETS_BUCKET_GRID_H_

// Where buckets of several extents may lie, for bucket_tuples.h: the points of a grid, as
// candidates of a bucket_search.h problem, and moves of chosen buckets beside such a grid's lines.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_search.h"

namespace cooper {

// Samples of equal extents.
struct ExtentsKind {
  BucketKey::Tuple extents;
  double count = 0;
};
// In rising order of their extents, all of one rank.
using ExtentsKinds = std::vector<ExtentsKind>;

// By element of the extents: rising values.
using ExtentsGrid = std::vector<std::vector<int64_t>>;

// The cost of a sample in a bucket.
using ExtentsCost = std::function<double(absl::Span<const int64_t> bucket)>;

ExtentsKinds SortedKinds(const absl::flat_hash_map<BucketKey::Tuple, int64_t>& counts);
// Whether no element of the extents exceeds the bucket's.
bool Holds(const BucketKey::Tuple& bucket, const BucketKey::Tuple& extents);

// All values that occur.
ExtentsGrid GridOf(const ExtentsKinds& kinds);
double NumPoints(const ExtentsGrid& grid);
// Of at most so many points: elements of few values keep them, the others have as many of their
// best boundaries each.
absl::StatusOr<ExtentsGrid> ThinGrid(const ExtentsKinds& kinds, const ExtentsGrid& grid,
                                     double max_points);
// The samples in buckets of the next points of the grid.
ExtentsKinds RoundUpTo(const ExtentsGrid& grid, const ExtentsKinds& kinds);

// The points of the grid that are joins of samples, and what they cost and hold. kInvalidArgument
// if a cost is negative, not finite, or below that of a point with smaller elements.
struct GridCandidates {
  std::vector<BucketKey::Tuple> points;
  BucketProblem problem;  // without its options
};
absl::StatusOr<GridCandidates> CandidatesOf(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                            const ExtentsGrid& grid);

// Moves single elements of single buckets by 1, 2, 4, ... values of the grid, as far as two lines
// of the thin one, while that saves anything; four rounds at most.
void MoveBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
                 const ExtentsGrid& thin, std::vector<BucketKey::Tuple>* buckets);

// Each bucket becomes the join of the samples that go to it, and those that none goes to are left
// out; they are in rising order then.
struct FilledBuckets {
  std::vector<BucketKey::Tuple> buckets;
  std::vector<double> counts;  // of samples, by bucket
  double cost = 0;             // of all samples
};
FilledBuckets ShrinkBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                            std::vector<BucketKey::Tuple> buckets);

// Unites buckets of fewer samples with those with which that costs least, the smallest first, until
// there is none or one bucket is left. O(k^2 * d) time for each of k buckets and d kinds.
FilledBuckets UniteSmallBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                int64_t min_samples, FilledBuckets filled);

// What no choice of at most so many buckets costs less than, each bucket's own cost included
// (bucket_lower_bound.cc, with the proof); `grid` is GridOf(kinds). A null cost is the sum of the
// extents, of which each element alone gives the exact part: O(k * d * log(d)) time. Of another one
// it is called for each kind with each line; where that is more than 4 million calls, the bound is
// the cost of the samples without padding.
double LeastPossibleCost(const ExtentsCost& cost, const ExtentsKinds& kinds,
                         const ExtentsGrid& grid, int max_buckets, double bucket_cost);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_GRID_H_
