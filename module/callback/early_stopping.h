#ifndef COOPER_MODULE_CALLBACK_EARLY_STOPPING_H_
#define COOPER_MODULE_CALLBACK_EARLY_STOPPING_H_

// Ends a training that no longer gets better, and goes back to the parameters that were best.
//
//   EarlyStopping stopping({.metric = "perplexity", .patience = 3});
//   fit.eval_data = valid.get();
//   fit.eval_end_callbacks.push_back(stopping.AtEvalEnd());
//   COOPER_RETURN_IF_ERROR(model->Fit(*train, fit));
//   COOPER_RETURN_IF_ERROR(stopping.RestoreBest(*model));  // where num_epoch ended it

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/parameter_options.h"

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

// Watches the evaluations of one training. Callbacks must not outlive it.
//
// What it has seen is no part of a TrainingState (module/training_state.h), which knows nothing of
// callbacks: a run that goes on begins with a new one, whose first evaluation is the best so far,
// and may train for more epochs than the unbroken run and go back to other parameters. Keep the
// best ones on the disk by the score that Checkpointer::Save takes.
class EarlyStopping {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {}) : options_(std::move(options)) {}
  EarlyStopping(const EarlyStopping&) = delete;
  EarlyStopping& operator=(const EarlyStopping&) = delete;

  // For FitOptions::eval_end_callbacks. False, which ends the training, after `patience`
  // evaluations without a better value, of which NaN is none; and at once if the metric has no
  // value of that name or the parameters cannot be copied: RestoreBest then tells. The best
  // parameters are back in the module after that.
  BatchEndCallback AtEvalEnd();

  // Puts the best evaluation's parameters and auxiliary states back, for a training that ended for
  // another reason; after one that was ended here it changes nothing. kFailedPrecondition if no
  // evaluation had a value, or without restore_best; the error that ended the training, if any.
  absl::Status RestoreBest(BaseModule& module) const;

  // Of the best evaluation so far; absent before the first.
  const std::optional<double>& best() const { return best_; }
  int best_epoch() const { return best_epoch_; }
  // Whether it has ended the training.
  bool stopped() const { return stopped_; }

 private:
  bool Watch(const BatchEndParam& param);
  bool StopWith(const absl::Status& error);
  bool IsBetter(double value, const std::string& name) const;

  const EarlyStoppingOptions options_;
  std::optional<double> best_;
  int best_epoch_ = -1;
  int worse_ = 0;  // evaluations since
  bool stopped_ = false;
  absl::Status status_;
  ModuleParams params_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_EARLY_STOPPING_H_
