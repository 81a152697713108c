#ifndef COOPER_IO_BUCKETS_STEP_COST_H_
#define COOPER_IO_BUCKETS_STEP_COST_H_

// Estimates the cost of a step from the length of its bucket, given a few measured steps: for the
// step_cost of ChooseBuckets (bucket_boundaries.h).

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// One measurement of FitStepCost.
struct StepTime {
  int64_t length = 0;  // of the bucket
  // The time of a step, with the same number of sentences for every bucket, in any unit: measured,
  // or counted, such as BucketPlan::Flops (module/bucketing/bucket_plan.h).
  double time = 0;
};

// The cost overhead + per_token * n: a constant per step plus a cost for each position.
struct StepCost {
  double overhead = 0;
  double per_token = 0;

  // Returns the cost of a step with a bucket of length n.
  double operator()(int64_t n) const { return overhead + per_token * static_cast<double>(n); }
};

// Returns the line of least squares among the lines that are not negative at 0 and do not fall. A
// length may come several times. kInvalidArgument if there are fewer than two different lengths,
// one is not positive, or a time is negative or not finite.
absl::StatusOr<StepCost> FitStepCost(absl::Span<const StepTime> times);

// Interpolates linearly between the costs of some lengths, and extrapolates the first and the last
// segment, but never below 0: for costs that are known exactly and need not be linear, such as
// those of attention, which grow with the square of the length.
class StepCostLines {
 public:
  // Returns the cost of a step with a bucket of length n.
  double operator()(int64_t n) const;

 private:
  friend absl::StatusOr<StepCostLines> InterpolateStepCost(absl::Span<const StepTime> times);
  std::vector<StepTime> times_;  // rising, at least two
};

// Returns the interpolation of these times. kInvalidArgument if there are fewer than two lengths,
// one is not positive or comes twice, a time is negative or not finite, or times fall as lengths
// grow.
absl::StatusOr<StepCostLines> InterpolateStepCost(absl::Span<const StepTime> times);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_STEP_COST_H_
