#ifndef COOPER_TOOLS_LM_TRAIN_LM_STEP_COST_H_
#define COOPER_TOOLS_LM_TRAIN_LM_STEP_COST_H_

// Computes the cost of a sentence in a bucket from the compiled language model: for the step_cost
// of iterators that choose their buckets.

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct LmStepCostOptions {
  SymGen sym_gen;            // of MakeLanguageModel
  bool use_lengths = false;  // the value in the options of sym_gen
  std::set<std::string> disabled_passes;
  bool label_probabilities = false;
  int64_t batch_size = 1;
  int64_t longest = 2;  // maximum length of a bucket, in words
};

// Returns the floating-point operations of a training step by the length of its bucket, in words,
// scaled such that a sentence in the longest bucket costs `longest`, as it does without a
// step_cost. Compiles the network for at most nine lengths and interpolates linearly.
// kInvalidArgument if longest or batch_size is too small; also the errors of BucketPlan.
absl::StatusOr<std::function<double(int64_t length)>> LmStepCost(LmStepCostOptions options);

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LM_STEP_COST_H_
