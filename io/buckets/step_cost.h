#ifndef COOPER_IO_BUCKETS_STEP_COST_H_
#define COOPER_IO_BUCKETS_STEP_COST_H_

// What a step costs by the length of its bucket, from a few that were measured: for the step_cost
// of ChooseBuckets (bucket_boundaries.h).

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

struct StepTime {
  int64_t length = 0;  // of the bucket
  // Of a step with as many sentences as in the other buckets, in any unit: measured, or counted,
  // such as BucketPlan::Flops (module/bucketing/bucket_plan.h).
  double time = 0;
};

// overhead + per_token * n: what every step takes, and what each position adds.
struct StepCost {
  double overhead = 0;
  double per_token = 0;

  double operator()(int64_t n) const { return overhead + per_token * static_cast<double>(n); }
};

// The line whose squared distances from these times are least, among those that start at 0 or above
// and do not fall; several times of one length are welcome. kInvalidArgument if there are less than
// two lengths, one is not positive, or a time is negative or not finite.
absl::StatusOr<StepCost> FitStepCost(absl::Span<const StepTime> times);

// Straight between the costs of some lengths, and on along the first and the last line beyond them,
// but never below 0: for costs that are known exactly and need not be a line, such as those of
// attention, which grow with the square of the length.
class StepCostLines {
 public:
  double operator()(int64_t n) const;

 private:
  friend absl::StatusOr<StepCostLines> InterpolateStepCost(absl::Span<const StepTime> times);
  std::vector<StepTime> times_;  // rising, at least two
};

// kInvalidArgument if there are less than two lengths, one is not positive or comes twice, a time
// is negative or not finite, or times fall as lengths grow.
absl::StatusOr<StepCostLines> InterpolateStepCost(absl::Span<const StepTime> times);

}  // namespace cooper

#endif  // COOPER_IO_BUCKETS_STEP_COST_H_
