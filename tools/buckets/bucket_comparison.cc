#include "tools/buckets/bucket_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/buckets/bucket_tuples.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using TooLong = BucketBoundariesOptions::TooLong;
using Tuple = BucketKey::Tuple;

constexpr int kMaxBuckets = 64;
// Limit of the samples that too_long=split creates, which are held in memory.
constexpr int64_t kMaxParts = 100000000;

absl::Status CheckOptions(const SampleLengths& lengths, const BucketComparisonOptions& options) {
  const auto expect = [](bool holds, const char* name, auto value, const char* expected) {
    if (holds) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", expected ", expected));
  };
  COOPER_RETURN_IF_ERROR(expect(options.max_buckets >= 1 && options.max_buckets <= kMaxBuckets,
                                "max_buckets", options.max_buckets, "1 to 64"));
  COOPER_RETURN_IF_ERROR(expect(std::isfinite(options.bucket_cost), "bucket_cost",
                                options.bucket_cost, "padded tokens, or -1"));
  COOPER_RETURN_IF_ERROR(expect(options.multiple_of >= 1 && options.multiple_of <= kMaxSampleLength,
                                "multiple_of", options.multiple_of, "1 to 1000000000"));
  COOPER_RETURN_IF_ERROR(expect(std::isfinite(options.step_overhead) && options.step_overhead >= 0,
                                "step_overhead", options.step_overhead, "0 or more"));
  COOPER_RETURN_IF_ERROR(
      expect(options.max_length == 0 || options.max_length >= options.multiple_of, "max_length",
             options.max_length, "0 (none), or multiple_of at least"));
  COOPER_RETURN_IF_ERROR(
      expect(options.batch_size >= 0, "batch_size", options.batch_size, "0 or more"));
  for (const int64_t bucket : options.in_use) {
    COOPER_RETURN_IF_ERROR(expect(bucket >= 1 && bucket <= kMaxSampleLength, "a bucket in use",
                                  bucket, "1 to 1000000000"));
  }
  if (lengths.pairs() && !options.in_use.empty()) {
    return absl::InvalidArgumentError("buckets in use are lengths, which pairs do not go to");
  }
  if (options.too_long != TooLong::kSplit) return absl::OkStatus();
  if (lengths.pairs())
    return absl::InvalidArgumentError("too_long is split, which pairs cannot be");
  if (options.max_length == 0) return absl::OkStatus();
  const int64_t parts = lengths.tokens() / options.max_length;
  return expect(parts <= kMaxParts, "max_length", options.max_length,
                "more: too_long=split makes over 100,000,000 samples of these");
}

absl::StatusOr<BucketComparison> CompareSingle(const SampleLengths& lengths,
                                               const BucketComparisonOptions& options) {
  BucketComparison comparison;
  for (int k = 1; k <= options.max_buckets; ++k) {
    COOPER_ASSIGN_OR_RETURN(const BucketBoundaries best,
                            ChooseBuckets(lengths.first, {.max_buckets = k,
                                                          .multiple_of = options.multiple_of,
                                                          .step_overhead = options.step_overhead,
                                                          .min_sentences = options.batch_size,
                                                          .max_length = options.max_length,
                                                          .too_long = options.too_long}));
    if (static_cast<int>(best.buckets.size()) < k) break;
    BucketSet set{.padded_tokens = best.padded_tokens, .cost = best.cost};
    for (const int64_t bucket : best.buckets) set.buckets.push_back({bucket});
    comparison.by_number.push_back(std::move(set));
    comparison.discarded = best.discarded;
    comparison.truncated = best.truncated;
    comparison.split = best.split;
  }
  return comparison;
}

absl::StatusOr<BucketComparison> ComparePairs(const SampleLengths& lengths,
                                              const BucketComparisonOptions& options) {
  std::vector<Tuple> extents;
  extents.reserve(lengths.first.size());
  for (size_t i = 0; i < lengths.first.size(); ++i) {
    extents.push_back({lengths.first[i], lengths.second[i]});
  }
  BucketTuplesOptions tuples{.multiple_of = options.multiple_of,
                             .step_cost =
                                 [&](absl::Span<const int64_t> bucket) {
                                   return static_cast<double>(bucket[0] + bucket[1]) +
                                          options.step_overhead;
                                 },
                             .too_long = options.too_long};
  if (options.max_length > 0) tuples.max_extents = {options.max_length, options.max_length};
  BucketComparison comparison;
  for (int k = 1; k <= options.max_buckets; ++k) {
    tuples.max_buckets = k;
    COOPER_ASSIGN_OR_RETURN(BucketTuples best, ChooseBucketTuples(extents, tuples));
    if (static_cast<int>(best.buckets.size()) < k) break;
    comparison.discarded = best.discarded;
    comparison.truncated = best.truncated;
    const auto kept = static_cast<double>(static_cast<int64_t>(extents.size()) - best.discarded);
    comparison.by_number.push_back(
        {.buckets = std::move(best.buckets),
         .padded_tokens = std::llround(best.padded_cost - kept * options.step_overhead),
         .cost = best.padded_cost});
  }
  return comparison;
}

int64_t SumOf(const Tuple& tuple) {
  return std::accumulate(tuple.begin(), tuple.end(), int64_t{0});
}

bool Holds(const Tuple& bucket, const Tuple& extents) {
  for (size_t i = 0; i < bucket.size(); ++i) {
    if (bucket[i] < extents[i]) return false;
  }
  return true;
}

// Counts a sample in the cheapest of `rows` that holds it; returns false if none does.
bool Place(const Tuple& extents, std::vector<BucketRow>& rows) {
  BucketRow* best = nullptr;
  if (extents.size() == 1) {  // rows are rising, so the first one that holds the sample is cheapest
    const auto row = std::lower_bound(
        rows.begin(), rows.end(), extents[0],
        [](const BucketRow& row, int64_t length) { return row.bucket[0] < length; });
    if (row != rows.end()) best = &*row;
  } else {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (BucketRow& row : rows) {
      const int64_t sum = SumOf(row.bucket);
      if (sum >= least || !Holds(row.bucket, extents)) continue;
      least = sum;
      best = &row;
    }
  }
  if (best == nullptr) return false;
  ++best->samples;
  best->tokens += SumOf(extents);
  best->padded_tokens += SumOf(best->bucket);
  return true;
}

// Counts all samples in the rows, after applying too_long.
void PlaceAll(const SampleLengths& lengths, const BucketComparisonOptions& options,
              std::vector<BucketRow>& rows) {
  const int64_t longest = options.max_length / options.multiple_of * options.multiple_of;
  for (size_t i = 0; i < lengths.first.size(); ++i) {
    Tuple extents = {lengths.first[i]};
    if (lengths.pairs()) extents.push_back(lengths.second[i]);
    if (longest > 0 && options.too_long == TooLong::kTruncate) {
      for (int64_t& extent : extents) extent = std::min(extent, longest);
    }
    if (longest > 0 && options.too_long == TooLong::kSplit) {
      for (; extents[0] > longest; extents[0] -= longest) Place({longest}, rows);
    }
    Place(extents, rows);
  }
}

}  // namespace

double PaddingShare(int64_t tokens, int64_t padded) {
  return padded == 0 ? 0 : static_cast<double>(padded - tokens) / static_cast<double>(padded);
}

absl::StatusOr<BucketComparison> CompareBuckets(const SampleLengths& lengths,
                                                const BucketComparisonOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckOptions(lengths, options));
  COOPER_ASSIGN_OR_RETURN(BucketComparison comparison, lengths.pairs()
                                                           ? ComparePairs(lengths, options)
                                                           : CompareSingle(lengths, options));
  comparison.bucket_cost =
      options.bucket_cost >= 0 ? options.bucket_cost : 0.01 * static_cast<double>(lengths.tokens());
  double least = std::numeric_limits<double>::infinity();
  for (size_t k = 1; k <= comparison.by_number.size(); ++k) {
    const double cost =
        comparison.by_number[k - 1].cost + comparison.bucket_cost * static_cast<double>(k);
    if (cost >= least) continue;
    least = cost;
    comparison.recommended = static_cast<int>(k);
  }
  for (const Tuple& bucket : comparison.best().buckets)
    comparison.rows.push_back({.bucket = bucket});
  PlaceAll(lengths, options, comparison.rows);
  for (const BucketRow& row : comparison.rows) {
    comparison.samples += row.samples;
    comparison.tokens += row.tokens;
  }
  for (const int64_t bucket : std::set<int64_t>(options.in_use.begin(), options.in_use.end())) {
    comparison.rows_in_use.push_back({.bucket = {bucket}});
  }
  for (const int64_t length : lengths.first) Place({length}, comparison.rows_in_use);
  comparison.min_cost = static_cast<double>(comparison.tokens) +
                        options.step_overhead * static_cast<double>(comparison.samples);
  comparison.lost_tokens = lengths.tokens() - comparison.tokens;
  return comparison;
}

}  // namespace cooper
