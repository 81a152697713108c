#include "io/streams/step_plan.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace cooper {
namespace {

// The state of all parts while steps are planned.
class Planner {
 public:
  Planner(absl::Span<const HeldCounts> parts, const StepPlanOptions& options)
      : parts_(parts.begin(), parts.end()), options_(options) {}

  // Returns the bucket of the next step, or -1 for none.
  int Choose(bool is_first, RandomGenerator* random) const {
    const auto num_buckets = static_cast<int>(options_.batch_sizes.size());
    int most = 0;                               // parts with a full batch of one bucket
    std::vector<int64_t> weights(num_buckets);  // of the buckets that so many parts have
    for (int b = 0; b < num_buckets; ++b) {
      int full_parts = 0;
      int64_t full_batches = 0;
      for (const HeldCounts& part : parts_) {
        const int64_t full = part.samples[b] / options_.batch_sizes[b];
        full_batches += full;
        full_parts += full > 0 ? 1 : 0;
      }
      if (full_parts > most) {
        most = full_parts;
        std::fill(weights.begin(), weights.end(), 0);
      }
      if (full_parts == most) weights[b] = full_batches;
    }
    const auto reading = std::count_if(parts_.begin(), parts_.end(),
                                       [](const HeldCounts& part) { return !part.at_end; });
    if (most < reading && !is_first) return -1;
    if (most == 0) {
      if (reading > 0 || !options_.serve_rest) return -1;
      for (int b = 0; b < num_buckets; ++b) {
        for (const HeldCounts& part : parts_) weights[b] += part.samples[b];
      }
    }
    return Draw(weights, random);
  }

  // Removes the samples of a step.
  void Take(int bucket) {
    for (HeldCounts& part : parts_) {
      int64_t& samples = part.samples[bucket];
      samples -= std::min(samples, options_.batch_sizes[bucket]);
    }
  }

 private:
  int Draw(const std::vector<int64_t>& weights, RandomGenerator* random) const {
    const int64_t sum = std::accumulate(weights.begin(), weights.end(), int64_t{0});
    if (sum == 0) return -1;
    int64_t drawn = 0;
    if (options_.shuffle) {
      drawn = static_cast<int64_t>(random->NextBelow(static_cast<uint64_t>(sum)));
    }
    int bucket = 0;
    while (drawn >= weights[bucket]) drawn -= weights[bucket++];
    return bucket;
  }

  std::vector<HeldCounts> parts_;
  const StepPlanOptions& options_;
};

}  // namespace

std::string HeldCounts::ToString() const {
  return absl::StrCat(at_end ? 1 : 0, ",", absl::StrJoin(samples, ","));
}

absl::StatusOr<HeldCounts> HeldCounts::Parse(absl::string_view text, size_t num_buckets) {
  std::vector<int64_t> numbers;
  bool is_valid = true;
  for (const absl::string_view number : absl::StrSplit(text, ',')) {
    is_valid &= absl::SimpleAtoi(number, &numbers.emplace_back()) && numbers.back() >= 0;
  }
  if (!is_valid || numbers.size() != num_buckets + 1 || numbers[0] > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text.substr(0, 80), "' are not the counts of ", num_buckets, " buckets"));
  }
  HeldCounts counts;
  counts.at_end = numbers[0] == 1;
  counts.samples.assign(numbers.begin() + 1, numbers.end());
  return counts;
}

std::vector<int> PlanSteps(absl::Span<const HeldCounts> parts, const StepPlanOptions& options,
                           RandomGenerator* random) {
  Planner planner(parts, options);
  std::vector<int> plan;
  while (static_cast<int64_t>(plan.size()) < options.max_steps) {
    const int bucket = planner.Choose(plan.empty(), random);
    if (bucket < 0) break;
    plan.push_back(bucket);
    planner.Take(bucket);
  }
  return plan;
}

}  // namespace cooper
