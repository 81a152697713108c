#ifndef COOPER_MODULE_FIT_EARLY_STOPPING_H_
#define COOPER_MODULE_FIT_EARLY_STOPPING_H_

// Ends a training whose validation no longer improves, and restores the best parameters.
//
//   EarlyStopping stopping({.metric = "perplexity", .patience = 3});
//   fit.eval_data = valid.get();
//   fit.eval_end_callbacks.push_back(stopping.AtEvalEnd());
//   COOPER_RETURN_IF_ERROR(model->Fit(*train, fit));
//   COOPER_RETURN_IF_ERROR(stopping.RestoreBest(*model));  // if num_epoch ended the training
//
// With a Checkpointer (module/checkpoint/checkpointer.h), name it in TrainingRun::callbacks: a run
// that was killed then ends with the same best epoch and after the same number of epochs.

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/options/parameter_options.h"

namespace cooper {

// Options of EarlyStopping. NaN is never better.
struct EarlyStoppingOptions {
  // Name of the value to watch. Empty: the first value of the metric.
  std::string metric;
  // The training ends after this many evaluations in a row without a better value. Values below 1
  // mean 1.
  int patience = 1;
  // A value is better only if it exceeds the best one by more than this.
  double min_delta = 0;
  // Whether larger values are better. Unset: follows from the metric's name (LargerIsBetter).
  std::optional<bool> larger_is_better;
  // Whether to copy the parameters and auxiliary states at each evaluation that is the best so far,
  // and to restore them when this object ends the training. If false, nothing is copied.
  bool restore_best = true;
  LogLine log = LogInfo;  // receives the reason when the training ends; null: none
};

// Watches the evaluations of one training. The object must outlive the callbacks that it returns.
// Not thread-safe.
class EarlyStopping : public StatefulCallback {
 public:
  // No default argument: EarlyStopping({}) would be ambiguous with the copy constructor.
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {}
  EarlyStopping(const EarlyStopping&) = delete;
  EarlyStopping& operator=(const EarlyStopping&) = delete;

  // Returns a callback for FitOptions::eval_end_callbacks. It ends the training after `patience`
  // evaluations in a row without a better value (NaN is never better), and restores the best
  // parameters. If the metric has no value of the name in the options, Fit fails with kNotFound,
  // naming the values that there are.
  BatchEndCallback AtEvalEnd();

  // Restores the parameters and auxiliary states of the best evaluation, for a training that ended
  // for another reason. Parameters that did not exist at that evaluation stay unchanged.
  // kFailedPrecondition if no evaluation had a value, or without restore_best.
  absl::Status RestoreBest(BaseModule& module) const;

  // The value and the epoch of the best evaluation so far; absent and -1 before the first one.
  const std::optional<double>& best() const { return best_; }
  int best_epoch() const { return best_epoch_; }
  // Whether this object has ended the training.
  bool stopped() const { return stopped_; }

  // The state is the best value and its epoch, the number of evaluations since then, stopped() and,
  // with restore_best, the best parameters: a saved state of the run then has the parameters twice.
  absl::StatusOr<ArrayMap> SaveState() const override;
  absl::Status LoadState(const ArrayMap& state) override;

 private:
  absl::StatusOr<bool> Watch(const BatchEndParam& param);
  bool IsBetter(double value, const std::string& name) const;

  const EarlyStoppingOptions options_;
  std::optional<double> best_;
  int best_epoch_ = -1;
  int worse_ = 0;  // evaluations since the best one
  bool stopped_ = false;
  ModuleParams params_;  // of the best evaluation; nothing writes to these copies
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_EARLY_STOPPING_H_
