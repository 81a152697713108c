#ifndef COOPER_MODULE_LR_SCHEDULER_STEP_SCHEDULERS_H_
#define COOPER_MODULE_LR_SCHEDULER_STEP_SCHEDULERS_H_

// Schedules that multiply the rate at steps. The rate changes after a step's update, not at it:
// with step 10, update 11 is the first one with the new rate.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/key_values.h"
#include "module/lr_scheduler/lr_scheduler.h"

namespace cooper {

// Options of FactorScheduler::Create; the factor is in [0, 1].
struct FactorSchedulerOptions {
  LRSchedulerOptions common;
  int64_t step = 0;  // required, >= 1
  double factor = 1;
  double stop_factor_lr = 1e-8;  // lower bound of the rate
};

// The rate is base_lr * factor^k after k * step updates. With the default factor 1 it stays
// constant. The rate does not fall below stop_factor_lr.
class FactorScheduler : public LRScheduler {
 public:
  // kInvalidArgument if `step` is below 1, `factor` is not in [0, 1], or as
  // CheckLRSchedulerOptions.
  static absl::StatusOr<std::unique_ptr<LRScheduler>> Create(const FactorSchedulerOptions& options);

 protected:
  // Multiplies base_lr_ once for each step since the last call, with MXNet's rounding. num_update
  // counts the updates of the warm-up too.
  double AfterWarmup(int64_t num_update) override;
  absl::string_view kind() const override { return "factor"; }
  void Save(KeyValues* state) const override;
  absl::Status Load(const KeyValues& state) override;

 private:
  explicit FactorScheduler(const FactorSchedulerOptions& options)
      : LRScheduler(options.common), step_options_(options) {}

  const FactorSchedulerOptions step_options_;
  int64_t count_ = 0;  // updates up to the last change
};

// Options of MultiFactorScheduler::Create; the factor is in [0, 1].
struct MultiFactorSchedulerOptions {
  LRSchedulerOptions common;
  std::vector<int64_t> step;  // required, rising, >= 1
  double factor = 1;
};

// The rate is base_lr * factor^k after step[k - 1] updates. Steps are numbers of updates, the
// warm-up included.
class MultiFactorScheduler : public LRScheduler {
 public:
  // kInvalidArgument if `step` does not rise from at least 1 or `factor` is not in [0, 1], or as
  // CheckLRSchedulerOptions.
  static absl::StatusOr<std::unique_ptr<LRScheduler>> Create(
      const MultiFactorSchedulerOptions& options);

 protected:
  // Multiplies base_lr_ once for each step that num_update has passed, those in the warm-up
  // included.
  double AfterWarmup(int64_t num_update) override;
  absl::string_view kind() const override { return "multifactor"; }
  void Save(KeyValues* state) const override;
  absl::Status Load(const KeyValues& state) override;

 private:
  explicit MultiFactorScheduler(const MultiFactorSchedulerOptions& options)
      : LRScheduler(options.common), step_options_(options) {}

  const MultiFactorSchedulerOptions step_options_;
  int64_t next_step_ = 0;  // index of the step that comes next
};

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_STEP_SCHEDULERS_H_
