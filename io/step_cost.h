#ifndef COOPER_IO_STEP_COST_H_
#define COOPER_IO_STEP_COST_H_

// What a step costs by the length of its bucket, from a few that were measured: for the step_cost
// of ChooseBuckets (bucket_boundaries.h).

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

struct StepTime {
  int64_t length = 0;  // of the bucket
  double time = 0;     // of a step with as many sentences as in the other buckets, in any unit
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

}  // namespace cooper

#endif  // COOPER_IO_STEP_COST_H_
