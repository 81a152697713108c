#ifndef COOPER_MODULE_FIT_EARLY_STOPPING_H_
#define COOPER_MODULE_FIT_EARLY_STOPPING_H_

// Ends a training that no longer gets better, and goes back to the parameters that were best.
//
//   EarlyStopping stopping({.metric = "perplexity", .patience = 3});
//   fit.eval_data = valid.get();
//   fit.eval_end_callbacks.push_back(stopping.AtEvalEnd());
//   COOPER_RETURN_IF_ERROR(model->Fit(*train, fit));
//   COOPER_RETURN_IF_ERROR(stopping.RestoreBest(*model));  // where num_epoch ended it
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

struct EarlyStoppingOptions {
  // The value to watch; empty: the first that the metric has.
  std::string metric;
  // So many evaluations in a row may be no better before the training ends. At least 1.
  int patience = 1;
  // By how much a value has to be better to count.
  double min_delta = 0;
  // Whether larger values are better. Unset: by the name, as of accuracy, F1, correlations.
  std::optional<bool> larger_is_better;
  // Copy the parameters and auxiliary states at each evaluation that is the best so far, and put
  // them back when the training is ended. Without, nothing is copied.
  bool restore_best = true;
  LogLine log = LogInfo;  // of why it ends; null: nothing is said
};

// Watches the evaluations of one training. Callbacks must not outlive it. Not thread-safe.
class EarlyStopping : public StatefulCallback {
 public:
  // No default argument: EarlyStopping({}) would be ambiguous with the copy constructor.
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {}
  EarlyStopping(const EarlyStopping&) = delete;
  EarlyStopping& operator=(const EarlyStopping&) = delete;

  // Returns a callback for FitOptions::eval_end_callbacks. It ends the training after `patience`
  // evaluations in a row without a better value (NaN is never better), and puts the best parameters
  // back into the module. kNotFound, naming the values that there are, if the metric has none of
  // the name in the options: Fit fails with it.
  BatchEndCallback AtEvalEnd();

  // Puts the best evaluation's parameters and auxiliary states back, for a training that ended for
  // another reason; after one that was ended here it changes nothing. kFailedPrecondition if no
  // evaluation had a value, or without restore_best.
  absl::Status RestoreBest(BaseModule& module) const;

  // The value and the epoch of the best evaluation so far; absent and -1 before the first.
  const std::optional<double>& best() const { return best_; }
  int best_epoch() const { return best_epoch_; }
  // Whether it has ended the training.
  bool stopped() const { return stopped_; }

  // The best value and epoch, the patience that is used up, and with restore_best the best
  // parameters: a state of a run then holds the parameters twice.
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
  ModuleParams params_;  // of the best evaluation; copies that nothing writes to
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_EARLY_STOPPING_H_
