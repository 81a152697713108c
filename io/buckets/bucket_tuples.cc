#include "io/buckets/bucket_tuples.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "io/buckets/bucket_grid.h"
#include "io/buckets/bucket_search.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Tuple = BucketKey::Tuple;
using Options = BucketTuplesOptions;
using TooLong = BucketBoundariesOptions::TooLong;

constexpr double kGridPoints = 1024;

absl::Status Error(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("buckets: ", what));
}

std::string ToString(const Tuple& tuple) { return BucketKey(tuple).ToString(); }

absl::Status CheckOptions(const Options& options, absl::Span<const Tuple> extents) {
  if (options.max_buckets < 1 || options.multiple_of < 1 || !(options.bucket_cost >= 0)) {
    return Error(absl::StrCat("max_buckets is ", options.max_buckets, ", multiple_of ",
                              options.multiple_of, ", bucket_cost ", options.bucket_cost,
                              "; expected >= 1, >= 1 and >= 0"));
  }
  if (options.too_long == TooLong::kSplit) return Error("tuples cannot be split (too_long)");
  const size_t rank = extents.empty() ? 0 : extents[0].size();
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i].empty() || extents[i].size() != rank) {
      return Error(absl::StrCat("sample ", i, " has ", extents[i].size(), " extents, expected ",
                                rank == 0 ? "some" : "as many as sample 0"));
    }
    if (std::any_of(extents[i].begin(), extents[i].end(), [](int64_t n) { return n < 0; })) {
      return Error(absl::StrCat("the extents of sample ", i, " are ", ToString(extents[i])));
    }
  }
  if (options.max_extents.empty() || extents.empty()) return absl::OkStatus();
  if (options.max_extents.size() != rank) {
    return Error(absl::StrCat("max_extents is ", ToString(options.max_extents), ", samples have ",
                              rank, " extents"));
  }
  for (const int64_t most : options.max_extents) {
    if (most < 0 || (most > 0 && most < options.multiple_of)) {
      return Error(absl::StrCat("max_extents is ", ToString(options.max_extents),
                                ", expected 0 (none) or at least multiple_of, ",
                                options.multiple_of));
    }
  }
  return absl::OkStatus();
}

double SumOf(absl::Span<const int64_t> bucket) {
  double sum = 0;
  for (const int64_t extent : bucket) sum += static_cast<double>(extent);
  return sum;
}

// Counts the extents that buckets have to hold, rounded up to multiples, and updates the counts of
// `result`.
absl::StatusOr<ExtentsKinds> Count(const Options& options, const ExtentsCost& cost,
                                   absl::Span<const Tuple> extents, BucketTuples* result) {
  const int64_t multiple = options.multiple_of;
  const std::string limit = options.max_extents.empty()
                                ? absl::StrCat("what a multiple of ", multiple, " can be")
                                : absl::StrCat("max_extents, ", ToString(options.max_extents));
  absl::flat_hash_map<Tuple, int64_t> all;
  for (const Tuple& sample : extents) ++all[sample];
  absl::flat_hash_map<Tuple, int64_t> rounded;
  for (const ExtentsKind& kind : SortedKinds(all)) {  // sorted: sums are reproducible
    const Tuple& own = kind.extents;
    const auto count = static_cast<int64_t>(kind.count);
    if (std::all_of(own.begin(), own.end(), [](int64_t n) { return n == 0; })) continue;
    Tuple kept = own;
    for (size_t a = 0; a < own.size(); ++a) {
      const int64_t given = options.max_extents.empty() ? 0 : options.max_extents[a];
      constexpr int64_t kMax = std::numeric_limits<int64_t>::max() - 1;  // as in ChooseBuckets
      const int64_t most = given > 0 ? std::min(given, kMax) : kMax;
      kept[a] = std::max<int64_t>(1, std::min(kept[a], most / multiple * multiple));
    }
    if (!Holds(kept, own)) {
      if (options.too_long == TooLong::kError) {
        const auto sample = std::find(extents.begin(), extents.end(), own);
        return Error(absl::StrCat("the extents of sample ", sample - extents.begin(), " are ",
                                  ToString(own), ", more than ", limit));
      }
      const bool is_discarded = options.too_long == TooLong::kDiscard;
      (is_discarded ? result->discarded : result->truncated) += count;
      if (is_discarded) continue;
    }
    result->own_cost += cost(kept) * kind.count;
    for (int64_t& extent : kept) extent = (extent - 1) / multiple * multiple + multiple;
    rounded[kept] += count;
  }
  if (!rounded.empty()) return SortedKinds(rounded);
  return Error(result->discarded > 0 ? absl::StrCat("no sample is within ", limit)
                                     : "there is no sample with an extent");
}

// Returns the cost of putting every sample into the largest bucket, the last candidate.
double CostInOneBucket(const BucketProblem& problem) {
  return problem.costs.back() * std::accumulate(problem.counts.begin(), problem.counts.end(), 0.0);
}

}  // namespace

absl::StatusOr<BucketTuples> ChooseBucketTuples(absl::Span<const Tuple> extents,
                                                const BucketTuplesOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckOptions(options, extents));
  BucketTuples result;
  const ExtentsCost cost = options.step_cost != nullptr ? options.step_cost : SumOf;
  COOPER_ASSIGN_OR_RETURN(const ExtentsKinds kinds, Count(options, cost, extents, &result));
  const ExtentsGrid grid = GridOf(kinds);
  const bool is_small = NumPoints(grid) <= kGridPoints;
  ExtentsGrid searched = grid;
  if (!is_small) {
    COOPER_ASSIGN_OR_RETURN(searched, ThinGrid(kinds, grid, kGridPoints));
  }
  COOPER_ASSIGN_OR_RETURN(
      GridCandidates candidates,
      CandidatesOf(cost, is_small ? kinds : RoundUpTo(searched, kinds), searched));
  BucketProblem& problem = candidates.problem;
  problem.max_buckets = options.max_buckets;
  problem.bucket_cost = options.bucket_cost;
  // If a bucket costs that much, one bucket for all samples is optimal. bucket_cost is set to 0,
  // since in a sum with so large a number the samples' cost would be lost to rounding.
  if (options.bucket_cost >= CostInOneBucket(problem)) {
    problem.max_buckets = 1;
    problem.bucket_cost = 0;
  }
  result.exact = is_small && ExhaustiveSearchSteps(problem) <= options.max_steps;
  const ChosenCandidates chosen =
      result.exact ? SearchExhaustively(problem) : ExchangeBuckets(problem);
  for (const int c : chosen.candidates) result.buckets.push_back(candidates.points[c]);
  if (!is_small) MoveBuckets(cost, kinds, grid, searched, &result.buckets);
  FilledBuckets filled = ShrinkBuckets(cost, kinds, std::move(result.buckets));
  const size_t num_buckets = filled.buckets.size();
  filled = MergeSmallBuckets(cost, kinds, options.min_samples, std::move(filled));
  result.exact = result.exact && filled.buckets.size() == num_buckets;
  result.buckets = std::move(filled.buckets);
  result.padded_cost = filled.cost;
  result.cost =
      result.padded_cost + options.bucket_cost * static_cast<double>(result.buckets.size());
  result.lower_bound =
      result.exact
          ? result.cost
          : std::min(result.cost, CostLowerBound(options.step_cost, kinds, grid,
                                                 options.max_buckets, options.bucket_cost));
  return result;
}

}  // namespace cooper
