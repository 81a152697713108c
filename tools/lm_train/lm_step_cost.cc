#include "tools/lm_train/lm_step_cost.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "io/buckets/step_cost.h"
#include "module/bucketing/bucket_plan.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int64_t kPieces = 8;

BucketShapes ShapesOf(const LmStepCostOptions& options, int64_t length) {
  const int64_t rows = options.batch_size;
  BucketShapes shapes = {
      .key = length,
      .data_shapes = {{.name = "data", .shape = {rows, length}, .layout = "NT"}},
      .label_shapes = {{.name = "softmax_label", .shape = {rows, length}, .layout = "NT"}}};
  if (options.use_lengths) {
    shapes.data_shapes.push_back({.name = "length", .shape = {rows}, .layout = "N"});
  }
  return shapes;
}

}  // namespace

absl::StatusOr<std::function<double(int64_t length)>> LmStepCost(LmStepCostOptions options) {
  if (options.longest < 2 || options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("LmStepCost: longest ", options.longest,
                                                   ", batch_size ", options.batch_size,
                                                   ": expected at least 2 words, and 1 sentence"));
  }
  std::set<int64_t> lengths = {1};
  for (int64_t piece = 1; piece <= kPieces; ++piece) {
    lengths.insert((options.longest * piece + kPieces - 1) / kPieces);
  }
  BucketPlanOptions plan_options = {.sym_gen = options.sym_gen,
                                    .module = {.disabled_passes = options.disabled_passes,
                                               .label_probabilities = options.label_probabilities}};
  for (const int64_t length : lengths) plan_options.buckets.push_back(ShapesOf(options, length));
  COOPER_ASSIGN_OR_RETURN(BucketPlan plan, BucketPlan::Create(std::move(plan_options)));
  std::vector<StepTime> steps;
  for (const int64_t length : lengths) {
    COOPER_ASSIGN_OR_RETURN(const double flops, plan.Flops(length, options.batch_size));
    steps.push_back({.length = length, .time = flops});
  }
  COOPER_ASSIGN_OR_RETURN(const StepCostLines flops, InterpolateStepCost(steps));
  const double of_longest = flops(options.longest) / static_cast<double>(options.longest);
  return [flops, of_longest](int64_t length) { return flops(length) / of_longest; };
}

}  // namespace cooper
