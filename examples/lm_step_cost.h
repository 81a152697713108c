#ifndef COOPER_EXAMPLES_LM_STEP_COST_H_
#define COOPER_EXAMPLES_LM_STEP_COST_H_

// What a sentence costs in a bucket, counted from the compiled language model: for the step_cost of
// iterators that choose their buckets.

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct LmStepCostOptions {
  SymGen sym_gen;            // of MakeLanguageModel
  bool use_lengths = false;  // as that was given
  std::set<std::string> disabled_passes;
  bool label_probabilities = false;
  int64_t batch_size = 1;
  int64_t longest = 2;  // words of the longest bucket that there may be
};

// The floating-point operations of a training step by the length of its bucket, in words: a
// sentence in the longest bucket costs `longest`, as it does without a step_cost. Compiles the
// network for nine lengths at the most, and is straight between them. kInvalidArgument if longest
// or batch_size is too small; the errors of BucketPlan.
absl::StatusOr<std::function<double(int64_t length)>> LmStepCost(LmStepCostOptions options);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LM_STEP_COST_H_
