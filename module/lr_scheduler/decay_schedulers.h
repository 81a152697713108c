#ifndef COOPER_MODULE_LR_SCHEDULER_DECAY_SCHEDULERS_H_
#define COOPER_MODULE_LR_SCHEDULER_DECAY_SCHEDULERS_H_

// Schedules that decay smoothly from base_lr to final_lr over max_update updates and then stay
// constant. They start from the base_lr of construction: set_base_lr has no effect on them.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/lr_scheduler/lr_scheduler.h"

namespace cooper {

// Options of PolyScheduler::Create; pwr is at least 0.
struct PolySchedulerOptions {
  LRSchedulerOptions common;
  int64_t max_update = 0;  // required, > warmup_steps
  double pwr = 2;
  double final_lr = 0;
};

// The rate is final_lr + (base_lr - final_lr) * (1 - x)^pwr, where x goes from 0 to 1: x =
// (num_update - warmup_steps) / (max_update - warmup_steps). With pwr 1 the rate falls on a line.
// As in MXNet, a jump past max_update keeps the rate that was requested last.
class PolyScheduler : public LRScheduler {
 public:
  // kInvalidArgument if max_update is not above warmup_steps, pwr is below 0, or as
  // CheckLRSchedulerOptions.
  static absl::StatusOr<std::unique_ptr<LRScheduler>> Create(const PolySchedulerOptions& options);

 protected:
  double AfterWarmup(int64_t num_update) override;
  absl::string_view kind() const override { return "poly"; }

 private:
  explicit PolyScheduler(const PolySchedulerOptions& options)
      : LRScheduler(options.common), decay_options_(options) {}

  const PolySchedulerOptions decay_options_;
};

// Options of CosineScheduler::Create.
struct CosineSchedulerOptions {
  LRSchedulerOptions common;
  int64_t max_update = 0;  // required, > warmup_steps
  double final_lr = 0;
};

// The rate is final_lr + (base_lr - final_lr) * (1 + cos(pi * x)) / 2, with the x of PolyScheduler.
class CosineScheduler : public LRScheduler {
 public:
  // kInvalidArgument if max_update is not above warmup_steps, or as CheckLRSchedulerOptions.
  static absl::StatusOr<std::unique_ptr<LRScheduler>> Create(const CosineSchedulerOptions& options);

 protected:
  double AfterWarmup(int64_t num_update) override;
  absl::string_view kind() const override { return "cosine"; }

 private:
  explicit CosineScheduler(const CosineSchedulerOptions& options)
      : LRScheduler(options.common), decay_options_(options) {}

  const CosineSchedulerOptions decay_options_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_DECAY_SCHEDULERS_H_
