#include "io/bucket_boundaries.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

absl::StatusOr<BucketBoundaries> ChooseBuckets(absl::Span<const int64_t> lengths,
                                               const BucketBoundariesOptions& options) {
  if (options.max_buckets < 1 || options.multiple_of < 1 || options.bucket_cost < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buckets: max_buckets is ", options.max_buckets, ", multiple_of ", options.multiple_of,
        ", bucket_cost ", options.bucket_cost, "; expected >= 1, >= 1 and >= 0"));
  }
  BucketBoundaries result;
  std::map<int64_t, int64_t> histogram;  // candidate bucket -> sentences for which it is the least
  for (int64_t length : lengths) {
    if (length < 0) {
      return absl::InvalidArgumentError(absl::StrCat("buckets: a length is ", length));
    }
    if (length == 0) continue;
    result.tokens += length;
    ++histogram[(length + options.multiple_of - 1) / options.multiple_of * options.multiple_of];
  }
  if (histogram.empty()) {
    return absl::InvalidArgumentError("buckets: there is no sentence with a word");
  }

  std::vector<int64_t> candidates;
  std::vector<int64_t> below = {0};  // below[i]: sentences that fit a candidate before the i-th
  for (const auto& [candidate, count] : histogram) {
    candidates.push_back(candidate);
    below.push_back(below.back() + count);
  }
  const auto d = static_cast<int>(candidates.size());
  const int most = std::min(options.max_buckets, d);

  // best[i]: the least cost of the first i candidates' sentences in the buckets so far, the last of
  // which is candidate i - 1. from[k][i]: where bucket k's sentences begin then.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> best(d + 1, kInfinity);
  best[0] = 0;
  std::vector<std::vector<int>> from;
  double least = kInfinity;
  int least_buckets = 0;
  for (int k = 0; k < most; ++k) {
    std::vector<double> next(d + 1, kInfinity);
    from.emplace_back(d + 1, 0);
    for (int i = k + 1; i <= d; ++i) {
      const double sentence = static_cast<double>(candidates[i - 1]) + options.step_overhead;
      for (int j = k; j < i; ++j) {
        const double cost = best[j] + static_cast<double>(below[i] - below[j]) * sentence;
        if (cost < next[i]) {
          next[i] = cost;
          from[k][i] = j;
        }
      }
    }
    best = std::move(next);
    const double cost = best[d] + options.bucket_cost * (k + 1);
    if (cost < least) {
      least = cost;
      least_buckets = k + 1;
    }
  }

  for (int k = least_buckets - 1, i = d; k >= 0; --k) {
    const int j = from[k][i];
    result.buckets.push_back(candidates[i - 1]);
    result.padded_tokens += (below[i] - below[j]) * candidates[i - 1];
    i = j;
  }
  std::reverse(result.buckets.begin(), result.buckets.end());
  result.cost = least;
  return result;
}

std::vector<int64_t> LengthsOf(absl::Span<const std::vector<int>> sentences) {
  std::vector<int64_t> lengths;
  lengths.reserve(sentences.size());
  for (const std::vector<int>& sentence : sentences) {
    lengths.push_back(static_cast<int64_t>(sentence.size()));
  }
  return lengths;
}

}  // namespace cooper
