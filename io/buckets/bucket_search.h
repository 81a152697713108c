#ifndef COOPER_IO_BUCKETS_BUCKET_SEARCH_H_
#define COOPER_IO_BUCKETS_BUCKET_SEARCH_H_

// Chooses buckets among candidates, of which it knows only what they cost and which samples they
// hold: the p-median problem of location theory. bucket_tuples.h makes such problems of extents.

#include <cstdint>
#include <vector>

namespace cooper {

// A sample costs what the cheapest chosen bucket costs that holds it. Some candidate holds all
// samples.
struct BucketProblem {
  int max_buckets = 1;
  double bucket_cost = 0;              // of each chosen bucket
  std::vector<double> counts;          // of equal samples, >= 1
  std::vector<double> costs;           // by candidate, of a sample in it; >= 0
  std::vector<std::vector<int>> held;  // by candidate: the samples that it holds, by number
};

struct ChosenCandidates {
  std::vector<int> candidates;  // rising
  double cost = 0;              // of all samples and buckets
};

// The steps that TryAllSets takes: sets of at most max_buckets candidates, times samples.
double StepsOfAllSets(const BucketProblem& problem);

// No choice costs less. StepsOfAllSets time.
ChosenCandidates TryAllSets(const BucketProblem& problem);

// Adds the bucket that saves most, then exchanges single buckets for others while that saves
// anything, and so on up to two more buckets than the best number; then takes buckets away in the
// same manner (M. B. Teitz and P. Bart, "Heuristic methods for estimating the generalized vertex
// median of a weighted graph", 1968). A round of exchanges takes as many steps as `held` has
// elements; there are a few for each number of buckets.
ChosenCandidates ExchangeBuckets(const BucketProblem& problem);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_BUCKET_SEARCH_H_
