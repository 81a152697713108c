#ifndef COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_
#define COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_

// The learning rate as a function of the number of updates.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "io/batch/key_values.h"

namespace cooper {

enum class WarmupMode {
  kLinear,    // rises from warmup_begin_lr to base_lr
  kConstant,  // stays at warmup_begin_lr
};

struct LRSchedulerOptions {
  double base_lr = 0.01;
  int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  WarmupMode warmup_mode = WarmupMode::kLinear;
};

// A schedule may be stateful: ask for updates in rising order.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;

  // The rate when parameters have been updated up to `num_update` times.
  double LearningRate(int64_t num_update);

  // The rate from which schedules go on. Some multiply it, others begin at that of their options
  // and only write to it.
  double base_lr() const { return base_lr_; }
  // Changes neither where the warm-up leads nor where decays begin.
  void set_base_lr(double base_lr) { base_lr_ = base_lr; }
  // Makes `base_lr` that of the options, from which everything follows: for before the first
  // update.
  void StartFrom(double base_lr) { options_.base_lr = base_lr_ = base_lr; }
  // The options, and what StartFrom made of them, as CheckLRSchedulerOptions says.
  absl::Status CheckOptions() const;

  // The schedule's place, as key_values.h's text. LoadState takes one of a schedule of the same
  // kind made with the same options; kInvalidArgument for others, leaving the schedule as it was.
  std::string SaveState() const;
  absl::Status LoadState(absl::string_view text);

 protected:
  explicit LRScheduler(const LRSchedulerOptions& options)
      : options_(options), base_lr_(options.base_lr) {}

  // Without the warm-up; may change base_lr_.
  virtual double AfterWarmup(int64_t num_update) = 0;
  virtual absl::string_view kind() const = 0;
  // What the kind keeps beside base_lr. Save fills, Load reads `state`, changing nothing if it
  // fails.
  virtual void Save(KeyValues*) const {}
  virtual absl::Status Load(const KeyValues&) { return absl::OkStatus(); }

  LRSchedulerOptions options_;
  double base_lr_;
};

// kInvalidArgument, naming what is wrong, for a warm-up that falls or a negative number of steps.
absl::Status CheckLRSchedulerOptions(const LRSchedulerOptions& options);

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_
