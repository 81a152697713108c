#include "io/step_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

absl::StatusOr<StepCost> FitStepCost(absl::Span<const StepTime> times) {
  double lengths = 0, sum = 0, squares = 0, products = 0;
  bool differ = false;
  for (const StepTime& step : times) {
    if (step.length < 1 || !(step.time >= 0) || !std::isfinite(step.time)) {
      return absl::InvalidArgumentError(
          absl::StrCat("FitStepCost: a step of length ", step.length, " takes ", step.time,
                       "; expected a positive length and a finite time >= 0"));
    }
    const auto n = static_cast<double>(step.length);
    lengths += n;
    sum += step.time;
    squares += n * n;
    products += n * step.time;
    differ = differ || step.length != times[0].length;
  }
  if (!differ) return absl::InvalidArgumentError("FitStepCost: give times of several lengths");
  const auto count = static_cast<double>(times.size());
  // About the means, where less is lost to rounding.
  const double mean = lengths / count;
  const double variance = squares - lengths * mean;
  const double per_token = (products - sum * mean) / variance;
  const double overhead = sum / count - per_token * mean;
  // The best line beyond a bound lies on it: squared distances are convex.
  if (per_token < 0) return StepCost{.overhead = sum / count};
  if (overhead < 0) return StepCost{.per_token = products / squares};
  return StepCost{.overhead = overhead, .per_token = per_token};
}

}  // namespace cooper
