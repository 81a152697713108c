#ifndef COOPER_IO_BUCKETS_BUCKET_GRID_H_
#define COOPER_IO_BUCKETS_BUCKET_GRID_H_

// Candidate buckets with several extents for bucket_tuples.h: the points of a grid, as candidates
// of a bucket_search.h problem, and moves of chosen buckets away from the lines of a thinned grid.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_search.h"

namespace cooper {

// A group of samples of equal extents.
struct ExtentsKind {
  BucketKey::Tuple extents;
  double count = 0;
};
// Groups in rising order of their extents, all of one rank.
using ExtentsKinds = std::vector<ExtentsKind>;

// The lines of a grid: rising values for each element of the extents.
using ExtentsGrid = std::vector<std::vector<int64_t>>;

// Returns the cost of a sample in a bucket.
using ExtentsCost = std::function<double(absl::Span<const int64_t> bucket)>;

// Returns the groups with these counts, in rising order.
ExtentsKinds SortedKinds(const absl::flat_hash_map<BucketKey::Tuple, int64_t>& counts);
// Returns whether no element of the extents exceeds the bucket's.
bool Holds(const BucketKey::Tuple& bucket, const BucketKey::Tuple& extents);

// Returns the grid of all values that occur. `kinds` must not be empty.
ExtentsGrid GridOf(const ExtentsKinds& kinds);
// Returns the number of points of the grid, as a double, since it may exceed int64.
double NumPoints(const ExtentsGrid& grid);
// Returns a grid of at most `max_points` points: elements with few values keep them, the others get
// their best boundaries, equally many each.
absl::StatusOr<ExtentsGrid> ThinGrid(const ExtentsKinds& kinds, const ExtentsGrid& grid,
                                     double max_points);
// Returns the groups with their extents rounded up to the next points of the grid, which must have
// such points.
ExtentsKinds RoundUpTo(const ExtentsGrid& grid, const ExtentsKinds& kinds);

// The grid points that are joins (elementwise maxima) of samples' extents, with their costs and the
// samples that they hold.
struct GridCandidates {
  std::vector<BucketKey::Tuple> points;
  BucketProblem problem;  // without its options
};
// Finds the candidates in O(points * groups) time. kInvalidArgument if a cost is negative, not
// finite, or below that of a point with smaller elements.
absl::StatusOr<GridCandidates> CandidatesOf(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                            const ExtentsGrid& grid);

// Moves single elements of single buckets by 1, 2, 4, ... values of the grid, up to two lines of
// the thin grid, while that reduces the cost; at most four rounds.
void MoveBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
                 const ExtentsGrid& thin, std::vector<BucketKey::Tuple>* buckets);

// Buckets in rising order, each the join of the samples assigned to it; buckets without samples are
// removed.
struct FilledBuckets {
  std::vector<BucketKey::Tuple> buckets;
  std::vector<double> counts;  // number of samples, by bucket
  double cost = 0;             // total over all samples
};
// Assigns each sample to the cheapest bucket that holds it and replaces each bucket by the join of
// its samples, again and again until that changes nothing. Some bucket must hold each sample.
FilledBuckets ShrinkBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                            std::vector<BucketKey::Tuple> buckets);

// Merges each bucket with fewer than `min_samples` samples, the smallest first, into the one where
// that costs least, until none or a single bucket is left. O(k^2 * d) time for each merge of k
// buckets and d groups.
FilledBuckets MergeSmallBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                int64_t min_samples, FilledBuckets filled);

// Returns a lower bound of the cost of all choices of at most `max_buckets` buckets, including
// `bucket_cost` for each (proof in bucket_lower_bound.cc); `grid` is GridOf(kinds). A null cost
// means the sum of the extents: O(k * d * log(d)) time. Any other cost is called for each group
// with each line; if that takes more than 4 million calls, the bound is the cost of the samples
// without padding.
double CostLowerBound(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
                      int max_buckets, double bucket_cost);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_GRID_H_
