#include "io/buckets/bucket_boundaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Options = BucketBoundariesOptions;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Computes for every i the least cost of the sentences of the first i lengths in k buckets from the
// costs in k - 1 buckets: the last bucket begins where the sum of both costs is least.
//
// The lengths j ... i - 1 in one bucket cost w(j, i) = (below[i] - below[j]) * step[i - 1], or
// infinity if they are too few sentences. As step never falls, for all a <= b <= c <= e
//
//   w(a, c) + w(b, e) <= w(a, e) + w(b, c)                           (quadrangle inequality),
//
// because the right side exceeds the left by (below[b] - below[a]) * (step[e - 1] - step[c - 1]);
// and if (a, c) or (b, e) has too few sentences, so has (b, c), a part of both. Therefore
//
// - the best beginning of the last bucket never moves back as i grows: from c to e a later
//   beginning b gains on an earlier one, a. So the best beginning for the middle i bounds the
//   others on both sides, and k buckets take O(d log d) instead of O(d^2). (F. F. Yao, "Efficient
//   dynamic programming using quadrangle inequalities", STOC 1980.)
// - the k-th bucket never saves more than the one before it. So the search ends at the first bucket
//   that saves no more than bucket_cost. (A. Aggarwal, B. Schieber and T. Tokuyama, "Finding a
//   minimum-weight k-link path in graphs with the concave Monge property and applications", 1994.)
class BoundarySearch {
 public:
  // below[i] is the number of sentences of the first i lengths, step[i] the cost of a sentence in a
  // bucket of length i. Starts with one bucket, for which there must be enough sentences.
  BoundarySearch(std::vector<int64_t> below, std::vector<double> step, int64_t min_sentences)
      : below_(std::move(below)), step_(std::move(step)), best_(below_.size(), kInfinity) {
    int latest = -1;
    for (int i = 0; i <= last(); ++i) {
      while (below_[i] - below_[latest + 1] >= min_sentences) ++latest;
      latest_.push_back(latest);
      if (latest >= 0) best_[i] = Cost(0, i);
    }
    first_ = FirstWithin(0);
    beginnings_.emplace_back(below_.size(), 0);
  }

  // Returns the cost of all sentences in the current buckets.
  double cost() const { return best_.back(); }

  // Adds a bucket; returns false if there are too few sentences for another one.
  bool AddBucket() {
    const int first = FirstWithin(first_);
    if (first > last()) return false;
    next_.assign(best_.size(), kInfinity);
    beginnings_.emplace_back(best_.size(), 0);
    Fill(first, last(), first_, last());
    best_.swap(next_);
    first_ = first;
    return true;
  }

  // Returns the positions of the lengths of `num_buckets` buckets, rising.
  std::vector<int> Buckets(int num_buckets) const {
    std::vector<int> positions;
    for (int k = num_buckets - 1, i = last(); k >= 0; --k) {
      positions.push_back(i - 1);
      i = beginnings_[k][i];
    }
    std::reverse(positions.begin(), positions.end());
    return positions;
  }

 private:
  int last() const { return static_cast<int>(step_.size()); }
  double Cost(int j, int i) const {
    return static_cast<double>(below_[i] - below_[j]) * step_[i - 1];
  }
  // Returns the first i whose last bucket may begin at `beginning`.
  int FirstWithin(int beginning) const {
    return static_cast<int>(std::lower_bound(latest_.begin(), latest_.end(), beginning) -
                            latest_.begin());
  }
  // Computes the costs for i in [first, end], where the last bucket begins in [from, to].
  void Fill(int first, int end, int from, int to) {
    if (first > end) return;
    const int i = first + (end - first) / 2;
    int beginning = from;
    for (int j = from; j <= std::min(to, latest_[i]); ++j) {
      const double cost = best_[j] + Cost(j, i);
      if (cost >= next_[i]) continue;
      next_[i] = cost;
      beginning = j;
    }
    beginnings_.back()[i] = beginning;
    Fill(first, i - 1, from, beginning);
    Fill(i + 1, end, beginning, to);
  }

  std::vector<int64_t> below_;
  std::vector<double> step_;
  std::vector<int> latest_;  // by i: the last beginning that leaves enough sentences, or -1
  std::vector<double> best_, next_;
  int first_ = 0;                             // best_ is finite from here on
  std::vector<std::vector<int>> beginnings_;  // by bucket and i
};

absl::Status CheckOptions(const Options& options) {
  if (options.max_buckets < 1 || options.multiple_of < 1 || !(options.bucket_cost >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buckets: max_buckets is ", options.max_buckets, ", multiple_of ", options.multiple_of,
        ", bucket_cost ", options.bucket_cost, "; expected >= 1, >= 1 and >= 0"));
  }
  if (options.max_length < 0 ||
      (options.max_length > 0 && options.max_length < options.multiple_of)) {
    return absl::InvalidArgumentError(absl::StrCat("buckets: max_length is ", options.max_length,
                                                   ", expected 0 (none) or at least multiple_of, ",
                                                   options.multiple_of));
  }
  if (options.step_cost != nullptr && options.step_overhead != 0) {
    return absl::InvalidArgumentError("buckets: give step_cost or step_overhead, not both");
  }
  return absl::OkStatus();
}

absl::Status TooManyTokens() {
  return absl::InvalidArgumentError("buckets: there are more tokens than 2^63 - 1");
}

// The positive lengths that buckets must hold.
struct KeptLengths {
  std::vector<int64_t> lengths;
  // The number of additional pieces of split sentences, each of the greatest length, which no other
  // length exceeds. Only counted, since a long sentence may have more pieces than memory holds.
  int64_t whole_ranges = 0;
  int64_t longest = 0;
};

absl::StatusOr<KeptLengths> Apply(const Options& options, absl::Span<const int64_t> lengths,
                                  BucketBoundaries* result) {
  // No bucket exceeds max_length, and all are multiples.
  const int64_t longest = options.max_length > 0
                              ? options.max_length / options.multiple_of * options.multiple_of
                              : std::numeric_limits<int64_t>::max() - options.multiple_of;
  KeptLengths kept = {.longest = longest};
  kept.lengths.reserve(lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    int64_t length = lengths[i];
    if (length < 0) {
      return absl::InvalidArgumentError(absl::StrCat("buckets: a length is ", length));
    }
    if (length > longest) {
      switch (options.too_long) {
        case Options::TooLong::kDiscard:
          ++result->discarded;
          continue;
        case Options::TooLong::kTruncate:
          ++result->truncated;
          length = longest;
          break;
        case Options::TooLong::kSplit:
          ++result->split;
          if (__builtin_add_overflow(kept.whole_ranges, (length - 1) / longest,
                                     &kept.whole_ranges)) {
            return TooManyTokens();
          }
          length -= (length - 1) / longest * longest;
          break;
        case Options::TooLong::kError:
          return absl::InvalidArgumentError(absl::StrCat("buckets: sentence ", i, " has ", length,
                                                         " words, more than max_length, ",
                                                         options.max_length));
      }
    }
    if (length > 0) kept.lengths.push_back(length);
  }
  if (!kept.lengths.empty()) return kept;  // a split sentence adds its last piece
  return absl::InvalidArgumentError(
      result->discarded > 0
          ? absl::StrCat("buckets: no sentence has 1 to ", longest, " words (max_length)")
          : "buckets: there is no sentence with a word");
}

// Adds n * m, both not negative, to `sum`; returns false if the result overflows.
bool AddProduct(int64_t n, int64_t m, int64_t* sum) {
  int64_t product;
  return !__builtin_mul_overflow(n, m, &product) && !__builtin_add_overflow(*sum, product, sum);
}

// Calls `visit` with each length, rising, and its frequency.
template <typename Visit>
void CountEach(std::vector<int64_t> lengths, Visit visit) {
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (longest / 4 <= static_cast<int64_t>(lengths.size())) {  // counted faster than sorted
    std::vector<int64_t> counts(static_cast<size_t>(longest) + 1);
    for (const int64_t length : lengths) ++counts[length];
    for (int64_t length = 0; length <= longest; ++length) {
      if (counts[length] > 0) visit(length, counts[length]);
    }
    return;
  }
  std::sort(lengths.begin(), lengths.end());
  for (auto begin = lengths.begin(); begin != lengths.end();) {
    const auto end = std::upper_bound(begin, lengths.end(), *begin);
    visit(*begin, end - begin);
    begin = end;
  }
}

// Calls `visit` for all kept lengths; it may get the longest one twice.
template <typename Visit>
void Count(KeptLengths kept, Visit visit) {
  CountEach(std::move(kept.lengths), visit);
  if (kept.whole_ranges > 0) visit(kept.longest, kept.whole_ranges);
}

// Returns the cost of a sentence in each candidate bucket.
absl::StatusOr<std::vector<double>> StepCosts(const Options& options,
                                              absl::Span<const int64_t> candidates) {
  std::vector<double> costs;
  for (const int64_t n : candidates) {
    const double cost = options.step_cost != nullptr
                            ? options.step_cost(n)
                            : static_cast<double>(n) + options.step_overhead;
    if (!std::isfinite(cost) || (!costs.empty() && cost < costs.back())) {
      return absl::InvalidArgumentError(
          absl::StrCat("buckets: a step of length ", n, " costs ", cost,
                       costs.empty() ? "" : absl::StrCat(", a shorter one ", costs.back()),
                       "; expected finite costs that do not fall"));
    }
    costs.push_back(cost);
  }
  return costs;
}

}  // namespace

absl::StatusOr<BucketBoundaries> ChooseBuckets(absl::Span<const int64_t> lengths,
                                               const BucketBoundariesOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  BucketBoundaries result;
  COOPER_ASSIGN_OR_RETURN(KeptLengths kept, Apply(options, lengths, &result));
  std::vector<int64_t> candidates;
  bool fits = true;                  // whether tokens can be counted
  std::vector<int64_t> below = {0};  // below[i]: sentences that fit a candidate before the i-th
  Count(std::move(kept), [&](int64_t length, int64_t count) {
    fits = fits && AddProduct(length, count, &result.tokens);
    if (!fits) return;  // an error below; further sums may overflow
    const int64_t multiple = options.multiple_of;
    const int64_t candidate = (length + multiple - 1) / multiple * multiple;
    if (candidates.empty() || candidates.back() < candidate) {
      candidates.push_back(candidate);
      below.push_back(below.back());
    }
    below.back() += count;
  });
  if (!fits) return TooManyTokens();
  COOPER_ASSIGN_OR_RETURN(std::vector<double> step, StepCosts(options, candidates));

  BoundarySearch search(below, std::move(step),
                        std::clamp<int64_t>(options.min_sentences, 1, below.back()));
  int num_buckets = 1;
  result.cost = search.cost();
  while (num_buckets < options.max_buckets && search.AddBucket() &&
         result.cost - search.cost() > options.bucket_cost) {
    ++num_buckets;
    result.cost = search.cost();
  }
  result.cost += options.bucket_cost * num_buckets;
  int64_t held = 0;
  for (const int position : search.Buckets(num_buckets)) {
    result.buckets.push_back(candidates[position]);
    fits =
        fits && AddProduct(below[position + 1] - held, candidates[position], &result.padded_tokens);
    held = below[position + 1];
  }
  if (!fits) return TooManyTokens();
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
