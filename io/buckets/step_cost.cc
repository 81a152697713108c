#include "io/buckets/step_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

namespace {

absl::Status CheckStep(const char* function, const StepTime& step) {
  if (step.length >= 1 && step.time >= 0 && std::isfinite(step.time)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(function, ": a step of length ", step.length, " takes ", step.time,
                   "; expected a positive length and a finite time >= 0"));
}

}  // namespace

absl::StatusOr<StepCost> FitStepCost(absl::Span<const StepTime> times) {
  double lengths = 0, sum = 0;
  bool differ = false;
  for (const StepTime& step : times) {
    if (const absl::Status status = CheckStep("FitStepCost", step); !status.ok()) return status;
    lengths += static_cast<double>(step.length);
    sum += step.time;
    differ = differ || step.length != times[0].length;
  }
  if (!differ) return absl::InvalidArgumentError("FitStepCost: give times of several lengths");
  const auto count = static_cast<double>(times.size());
  const double mean = lengths / count, mean_time = sum / count;
  // Computes deviations from the means: sums of squares would lose precision for similar lengths.
  double variance = 0, covariance = 0, squares = 0, products = 0;
  for (const StepTime& step : times) {
    const auto n = static_cast<double>(step.length);
    variance += (n - mean) * (n - mean);
    covariance += (n - mean) * (step.time - mean_time);
    squares += n * n;
    products += n * step.time;
  }
  if (!(variance > 0)) {
    return absl::InvalidArgumentError("FitStepCost: the lengths do not differ enough");
  }
  const double per_token = covariance / variance;
  const double overhead = mean_time - per_token * mean;
  // If the best line violates a bound, the best feasible line lies on that bound: least squares are
  // convex.
  if (per_token < 0) return StepCost{.overhead = mean_time};
  if (overhead < 0) return StepCost{.per_token = products / squares};
  return StepCost{.overhead = overhead, .per_token = per_token};
}

double StepCostLines::operator()(int64_t n) const {
  // The segment whose end is at least n, or the last one.
  const auto end =
      std::lower_bound(times_.begin() + 1, times_.end() - 1, n,
                       [](const StepTime& step, int64_t length) { return step.length < length; });
  const auto begin = end - 1;
  const double slope = (end->time - begin->time) / static_cast<double>(end->length - begin->length);
  return std::max(0.0, begin->time + slope * static_cast<double>(n - begin->length));
}

absl::StatusOr<StepCostLines> InterpolateStepCost(absl::Span<const StepTime> times) {
  StepCostLines lines;
  lines.times_.assign(times.begin(), times.end());
  std::sort(lines.times_.begin(), lines.times_.end(),
            [](const StepTime& a, const StepTime& b) { return a.length < b.length; });
  for (size_t i = 0; i < lines.times_.size(); ++i) {
    const StepTime& step = lines.times_[i];
    const absl::Status status = CheckStep("InterpolateStepCost", step);
    if (!status.ok()) return status;
    if (i == 0) continue;
    const StepTime& before = lines.times_[i - 1];
    if (before.length < step.length && before.time <= step.time) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("InterpolateStepCost: a step of length ", before.length, " takes ",
                     before.time, " and one of length ", step.length, " ", step.time,
                     "; expected each length once, and times that do not fall"));
  }
  if (lines.times_.size() < 2) {
    return absl::InvalidArgumentError("InterpolateStepCost: give times of several lengths");
  }
  return lines;
}

}  // namespace cooper
