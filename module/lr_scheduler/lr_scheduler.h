#ifndef COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_
#define COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_

// The learning rate as a function of the number of updates.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "io/batch/key_values.h"

namespace cooper {

// How the rate behaves during the warm-up.
enum class WarmupMode {
  kLinear,    // rises from warmup_begin_lr to base_lr
  kConstant,  // stays at warmup_begin_lr
};

// Options of all schedules.
struct LRSchedulerOptions {
  double base_lr = 0.01;
  int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  WarmupMode warmup_mode = WarmupMode::kLinear;
};

// The base of all schedules. It may keep state, so request rates for non-decreasing numbers of
// updates. Not thread-safe.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;

  // Returns the rate when parameters have been updated up to `num_update` times.
  double LearningRate(int64_t num_update);

  // The current base rate. The step schedules multiply it; the decays compute from the base rate of
  // their options and only write to it.
  double base_lr() const { return base_lr_; }
  // Changes neither the end of the warm-up nor the start of decays.
  void set_base_lr(double base_lr) { base_lr_ = base_lr; }
  // Replaces base_lr of the options, from which warm-up and decays follow. Call it before the first
  // update.
  void StartFrom(double base_lr) { options_.base_lr = base_lr_ = base_lr; }
  // Checks the options, including the base_lr of StartFrom (CheckLRSchedulerOptions).
  absl::Status CheckOptions() const;

  // Saves and restores the position in the schedule, as text in the format of key_values.h.
  // LoadState accepts the state of a schedule of the same kind with the same options;
  // kInvalidArgument for others, leaving the schedule unchanged.
  std::string SaveState() const;
  absl::Status LoadState(absl::string_view text);

 protected:
  explicit LRScheduler(const LRSchedulerOptions& options)
      : options_(options), base_lr_(options.base_lr) {}

  // Returns the rate after the warm-up. May change base_lr_.
  virtual double AfterWarmup(int64_t num_update) = 0;
  virtual absl::string_view kind() const = 0;
  // Save writes the state of the kind besides base_lr. Load reads it, and changes nothing if it
  // fails.
  virtual void Save(KeyValues*) const {}
  virtual absl::Status Load(const KeyValues&) { return absl::OkStatus(); }

  LRSchedulerOptions options_;
  double base_lr_;
};

// kInvalidArgument, naming the option, unless float32 can hold the rate.
absl::Status CheckScheduledRate(absl::string_view name, double rate);

// kInvalidArgument, naming the option, for a warm-up that falls, a negative number of steps, or as
// CheckScheduledRate.
absl::Status CheckLRSchedulerOptions(const LRSchedulerOptions& options);

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_LR_SCHEDULER_H_
