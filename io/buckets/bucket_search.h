#ifndef COOPER_IO_BUCKETS_BUCKET_SEARCH_H_
#define COOPER_IO_BUCKETS_BUCKET_SEARCH_H_

// Chooses buckets from candidates, of which it knows only the costs and the samples that they hold:
// the p-median problem of location theory. bucket_tuples.h creates such problems from extents.

#include <cstdint>
#include <vector>

namespace cooper {

// A sample costs as much as the cheapest chosen bucket that holds it. At least one candidate holds
// all samples.
struct BucketProblem {
  int max_buckets = 1;
  double bucket_cost = 0;              // per chosen bucket
  std::vector<double> counts;          // number of equal samples, >= 1, by group
  std::vector<double> costs;           // by candidate: of a sample in it, >= 0
  std::vector<std::vector<int>> held;  // by candidate: indices of the groups that it holds
};

// The chosen buckets of a problem.
struct ChosenCandidates {
  std::vector<int> candidates;  // rising
  double cost = 0;              // of all samples and buckets
};

// Returns the number of steps of SearchExhaustively: sets of at most max_buckets candidates, times
// samples.
double ExhaustiveSearchSteps(const BucketProblem& problem);

// Returns an optimal choice by trying all sets, in ExhaustiveSearchSteps time.
ChosenCandidates SearchExhaustively(const BucketProblem& problem);

// Returns a good choice by local search: adds the bucket that saves most, then exchanges single
// buckets while that saves anything, and so on up to two buckets more than the best number; then
// removes buckets in the same manner (M. B. Teitz and P. Bart, "Heuristic methods for estimating
// the generalized vertex median of a weighted graph", 1968). Finally it restarts several times from
// the best choice, with two buckets replaced at random. Equal problems give equal choices. A round
// of exchanges takes as many steps as `held` has elements; there are a few rounds for each number
// of buckets and each restart.
ChosenCandidates ExchangeBuckets(const BucketProblem& problem);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_SEARCH_H_
