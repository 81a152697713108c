#include "io/buckets/bucket_choice.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_tuples.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using TooLong = BucketBoundariesOptions::TooLong;

// The number of elements of one data array in a bucket: a constant factor, times the elements of
// the key that its axes follow.
struct Volume {
  double factor = 1;
  std::vector<int> elements;
};

std::vector<Volume> VolumesOf(absl::Span<const KeyedArray> arrays, int64_t num_samples) {
  std::vector<Volume> volumes;
  for (const KeyedArray& array : arrays) {
    if (!array.is_data) continue;
    Volume volume;
    for (size_t a = 0; a < array.pad_to.size(); ++a) {
      if (array.pad_to[a] >= 0) {
        volume.elements.push_back(array.pad_to[a]);
        continue;
      }
      double sum = 0;
      for (int64_t i = 0; i < num_samples; ++i) {
        sum += static_cast<double>(array.values.extent(i, static_cast<int>(a)));
      }
      volume.factor *= sum / static_cast<double>(num_samples);
    }
    // An array with the same size in every bucket does not influence the choice.
    if (!volume.elements.empty()) volumes.push_back(std::move(volume));
  }
  return volumes;
}

double ElementsIn(const std::vector<Volume>& volumes, absl::Span<const int64_t> bucket) {
  double sum = 0;
  for (const Volume& volume : volumes) {
    double product = volume.factor;
    for (const int element : volume.elements) product *= static_cast<double>(bucket[element]);
    sum += product;
  }
  return sum;
}

// Raises `extents`, the elements of a key, to those that the sample needs.
void RaiseToSample(absl::Span<const KeyedArray> arrays, int64_t sample,
                   absl::Span<int64_t> extents) {
  for (const KeyedArray& array : arrays) {
    for (size_t a = 0; a < array.pad_to.size(); ++a) {
      if (array.pad_to[a] < 0) continue;
      int64_t& extent = extents[array.pad_to[a]];
      extent = std::max(extent, array.values.extent(sample, static_cast<int>(a)));
    }
  }
}

}  // namespace

KeyCost CostOfKeys(absl::Span<const KeyedArray> arrays, int64_t num_samples,
                   const BucketChoice& choice) {
  if (choice.step_cost != nullptr) return choice.step_cost;
  return [volumes = VolumesOf(arrays, num_samples)](absl::Span<const int64_t> key) {
    return ElementsIn(volumes, key);
  };
}

absl::StatusOr<std::vector<BucketKey>> ChooseKeys(absl::Span<const KeyedArray> arrays,
                                                  int64_t num_samples, const BucketChoice& choice) {
  int rank = 0;
  for (const KeyedArray& array : arrays) {
    for (const int element : array.pad_to) rank = std::max(rank, element + 1);
  }
  if (rank == 0) {
    return absl::InvalidArgumentError("buckets: no axis of an input follows the key (pad_to)");
  }
  const KeyCost cost = CostOfKeys(arrays, num_samples, choice);
  const TooLong too_long = choice.truncate ? TooLong::kTruncate : TooLong::kDiscard;
  if (rank == 1) {
    if (choice.max_extents.size() > 1) {
      return absl::InvalidArgumentError(
          "buckets: max_extents has several elements, keys are integers");
    }
    std::vector<int64_t> lengths(num_samples, 0);
    for (int64_t i = 0; i < num_samples; ++i) {
      RaiseToSample(arrays, i, absl::MakeSpan(&lengths[i], 1));
    }
    COOPER_ASSIGN_OR_RETURN(
        const BucketBoundaries best,
        ChooseBuckets(lengths,
                      {.max_buckets = choice.max_buckets,
                       .multiple_of = choice.multiple_of,
                       .bucket_cost = choice.bucket_cost,
                       .step_cost = [&](int64_t n) { return cost(absl::MakeConstSpan(&n, 1)); },
                       .min_sentences = choice.min_samples,
                       .max_length = choice.max_extents.empty() ? 0 : choice.max_extents[0],
                       .too_long = too_long}));
    return std::vector<BucketKey>(best.buckets.begin(), best.buckets.end());
  }
  std::vector<BucketKey::Tuple> extents(num_samples);
  for (int64_t i = 0; i < num_samples; ++i) {
    extents[i].assign(rank, 0);
    RaiseToSample(arrays, i, absl::MakeSpan(extents[i]));
  }
  COOPER_ASSIGN_OR_RETURN(const BucketTuples best,
                          ChooseBucketTuples(extents, {.max_buckets = choice.max_buckets,
                                                       .multiple_of = choice.multiple_of,
                                                       .bucket_cost = choice.bucket_cost,
                                                       .step_cost = cost,
                                                       .min_samples = choice.min_samples,
                                                       .max_extents = choice.max_extents,
                                                       .too_long = too_long}));
  return std::vector<BucketKey>(best.buckets.begin(), best.buckets.end());
}

}  // namespace cooper
