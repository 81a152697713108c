#include "executor/kernels/loops/broadcast_plan.h"

#include <utility>

namespace cooper {

int64_t BroadcastPlan::num_elements() const {
  int64_t n = 1;
  for (int axis = 0; axis < rank; ++axis) n *= extents[axis];
  return n;
}

bool MakeBroadcastPlan(absl::Span<const int64_t> full,
                       absl::Span<const absl::Span<const int64_t>> operands, BroadcastPlan* plan) {
  const int num_operands = static_cast<int>(operands.size());
  const int full_rank = static_cast<int>(full.size());
  plan->num_operands = num_operands;
  plan->rank = 0;
  // Axes are added from the innermost outward, then reversed.
  std::array<int64_t, BroadcastPlan::kMaxOperands> step;  // elements per index of the axis
  step.fill(1);
  for (int axis = full_rank - 1; axis >= 0; --axis) {
    const int64_t extent = full[axis];
    if (extent == 1) continue;
    std::array<int64_t, BroadcastPlan::kMaxOperands> strides = {};
    for (int k = 0; k < num_operands; ++k) {
      const int own = axis - full_rank + static_cast<int>(operands[k].size());
      if (own >= 0 && operands[k][own] != 1) {
        strides[k] = step[k];
        step[k] *= operands[k][own];
      }
    }
    const int last = plan->rank - 1;
    bool merges = last >= 0;
    for (int k = 0; k < num_operands && merges; ++k) {
      merges = strides[k] == plan->strides[k][last] * plan->extents[last];
    }
    if (merges) {
      plan->extents[last] *= extent;
      continue;
    }
    if (plan->rank == BroadcastPlan::kMaxRank) return false;
    plan->extents[plan->rank] = extent;
    for (int k = 0; k < num_operands; ++k) plan->strides[k][plan->rank] = strides[k];
    ++plan->rank;
  }
  if (plan->rank == 0) {
    plan->rank = 1;
    plan->extents[0] = 1;
    for (int k = 0; k < num_operands; ++k) plan->strides[k][0] = 0;
  }
  for (int low = 0, high = plan->rank - 1; low < high; ++low, --high) {
    std::swap(plan->extents[low], plan->extents[high]);
    for (int k = 0; k < num_operands; ++k) {
      std::swap(plan->strides[k][low], plan->strides[k][high]);
    }
  }
  return true;
}

}  // namespace cooper
