#include "io/buckets/bucket_assignment.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Compares a sample's extents with those of a key. Counts elements in doubles, which do not
// overflow.
struct Fit {
  bool holds = true;
  double kept = 0;    // elements that have room, of labels too
  double padded = 0;  // elements of data with padding
};

Fit FitOf(absl::Span<const KeyedArray> arrays, int64_t sample, absl::Span<const int64_t> elements) {
  Fit fit;
  for (const KeyedArray& array : arrays) {
    const Shape shape = array.values.shape(sample);
    double kept = 1, padded = 1;
    for (int a = 0; a < shape.rank(); ++a) {
      const int64_t room = array.pad_to[a] < 0 ? shape[a] : elements[array.pad_to[a]];
      fit.holds = fit.holds && shape[a] <= room;
      kept *= static_cast<double>(std::min(shape[a], room));
      padded *= static_cast<double>(room);
    }
    fit.kept += kept;
    if (array.is_data) fit.padded += padded;
  }
  return fit;
}

absl::Status CheckKey(absl::Span<const KeyedArray> arrays, const BucketKey& key) {
  const BucketKey::Tuple elements = KeyElements(key);
  for (int64_t element : elements) {
    if (element < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("bucket ", key.ToString(), ", expected extents of at least 1"));
    }
  }
  for (const KeyedArray& array : arrays) {
    for (int element : array.pad_to) {
      if (element >= static_cast<int>(elements.size())) {
        return absl::InvalidArgumentError(absl::StrCat("bucket ", key.ToString(),
                                                       " has no element ", element, ", which '",
                                                       array.name, "' is padded to (pad_to)"));
      }
    }
  }
  return absl::OkStatus();
}

// Finds buckets when all keys are integers, which are ordered by their capacity.
class IntegerBuckets {
 public:
  IntegerBuckets(absl::Span<const KeyedArray> arrays, absl::Span<const BucketKey> keys)
      : arrays_(arrays) {
    for (const BucketKey& key : keys) extents_.push_back(key.int_value());
  }
  // Returns the first bucket that holds the sample; the number of buckets if none does.
  size_t Find(int64_t sample) const {
    int64_t needed = 0;
    for (const KeyedArray& array : arrays_) {
      for (size_t a = 0; a < array.pad_to.size(); ++a) {
        if (array.pad_to[a] < 0) continue;
        needed = std::max(needed, array.values.extent(sample, static_cast<int>(a)));
      }
    }
    return std::lower_bound(extents_.begin(), extents_.end(), needed) - extents_.begin();
  }

 private:
  absl::Span<const KeyedArray> arrays_;
  std::vector<int64_t> extents_;
};

// Returns the bucket with the least padding that holds the sample, or the one that keeps most of
// it; the number of buckets if there is none. If `costs`, by bucket, is not empty, cost takes the
// place of padding.
size_t FindTightest(absl::Span<const KeyedArray> arrays, absl::Span<const BucketKey> keys,
                    absl::Span<const double> costs, int64_t sample, bool truncate) {
  size_t best = keys.size();
  Fit best_fit;
  for (size_t b = 0; b < keys.size(); ++b) {
    Fit fit = FitOf(arrays, sample, KeyElements(keys[b]));
    if (!costs.empty()) fit.padded = costs[b];
    if (!fit.holds && !truncate) continue;
    const bool better =
        best == keys.size() || (fit.holds && !best_fit.holds) ||
        (fit.holds == best_fit.holds &&
         (fit.kept > best_fit.kept || (fit.kept == best_fit.kept && fit.padded < best_fit.padded)));
    if (!better) continue;
    best = b;
    best_fit = fit;
  }
  return best;
}

}  // namespace

BucketKey::Tuple KeyElements(const BucketKey& key) {
  if (key.is_string()) return {};
  if (key.is_int()) return {key.int_value()};
  return {key.tuple_value().begin(), key.tuple_value().end()};
}

absl::StatusOr<BucketAssignment> AssignToBuckets(absl::Span<const KeyedArray> arrays,
                                                 int64_t num_samples, std::vector<BucketKey> keys,
                                                 bool truncate, const KeyCost& cost) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  bool all_integers = true;
  for (const BucketKey& key : keys) {
    if (key.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bucket ", key.ToString(),
                       " is a string, which has no extents: set `key` to assign samples to it"));
    }
    COOPER_RETURN_IF_ERROR(CheckKey(arrays, key));
    all_integers = all_integers && key.is_int();
  }
  BucketAssignment result;
  for (BucketKey& key : keys) result.buckets.push_back({.key = key});
  std::optional<IntegerBuckets> integers;
  if (all_integers) integers.emplace(arrays, keys);
  std::vector<double> costs;
  if (cost != nullptr) {
    for (const BucketKey& key : keys) costs.push_back(cost(KeyElements(key)));
  }
  for (int64_t i = 0; i < num_samples; ++i) {
    size_t b = integers ? integers->Find(i) : FindTightest(arrays, keys, costs, i, truncate);
    if (b == keys.size() && truncate && integers) b = keys.size() - 1;
    if (b == keys.size()) {
      if (result.discarded++ == 0) result.first_discarded = i;
      continue;
    }
    if (truncate && !FitOf(arrays, i, KeyElements(keys[b])).holds) ++result.truncated;
    result.buckets[b].ids.push_back(i);
  }
  // Empty buckets are removed: they would announce batches of a shape that never comes.
  result.buckets.erase(
      std::remove_if(result.buckets.begin(), result.buckets.end(),
                     [](const BucketAssignment::Bucket& bucket) { return bucket.ids.empty(); }),
      result.buckets.end());
  if (result.buckets.empty()) {
    return absl::InvalidArgumentError(
        keys.empty() ? "no buckets"
                     : absl::StrCat("all of ", num_samples, " samples exceed the largest bucket, ",
                                    keys.back().ToString()));
  }
  return result;
}

absl::StatusOr<BucketAssignment> AssignByKey(absl::Span<const KeyedArray> arrays,
                                             absl::Span<const std::optional<BucketKey>> keys,
                                             bool truncate) {
  BucketAssignment result;
  std::map<BucketKey, std::vector<int64_t>> buckets;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::optional<BucketKey>& bucket = keys[i];
    if (!bucket.has_value()) {
      if (result.discarded++ == 0) result.first_discarded = static_cast<int64_t>(i);
      continue;
    }
    std::vector<int64_t>& ids = buckets[*bucket];
    if (ids.empty()) COOPER_RETURN_IF_ERROR(CheckKey(arrays, *bucket));
    const auto sample = static_cast<int64_t>(i);
    ids.push_back(sample);
    const BucketKey::Tuple elements = KeyElements(*bucket);
    if (FitOf(arrays, sample, elements).holds) continue;
    if (!truncate) {
      for (const KeyedArray& array : arrays) {
        if (FitOf({&array, 1}, sample, elements).holds) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("sample ", i, " of '", array.name, "' has shape ",
                         array.values.shape(sample).ToString(), ", more than the bucket ",
                         bucket->ToString(), " holds that `key` says of it"));
      }
    }
    ++result.truncated;
  }
  for (auto& [bucket, ids] : buckets) {
    result.buckets.push_back({.key = bucket, .ids = std::move(ids)});
  }
  if (result.buckets.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("none of ", keys.size(), " samples has a bucket (key)"));
  }
  return result;
}

}  // namespace cooper
