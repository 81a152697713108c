// BaseModule::Fit, and the loop over epochs and batches that it runs.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_iter.h"
#include "io/batch/data_statistics.h"
#include "module/callback/log_line.h"
#include "module/evaluate/evaluate.h"
#include "module/evaluate/feed_metric.h"
#include "module/fit/fit_bind.h"
#include "module/fit/fit_checks.h"
#include "module/fit/stop_requests.h"
#include "module/interface/base_module.h"
#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the error for an iterator without batches: a user's mistake, which metrics show only as
// NaN.
absl::Status NoBatch(const char* iterator, int epoch) {
  return absl::InvalidArgumentError(
      absl::StrCat("Fit: epoch ", epoch, ": ", iterator, " has no batch"));
}

// The lines that Fit writes after an epoch (FitOptions::progress).
class EpochLog {
 public:
  // Measures the epoch's time and the iterator's work from here on. A null `log` takes no lines.
  // The arguments are not owned and must outlive this object.
  EpochLog(const LogLine& log, int epoch, const DataIter& train_data)
      : log_(log), epoch_(epoch), start_(Clock::now()), train_data_(train_data) {
    if (log_) data_before_ = train_data.statistics();
  }

  // Writes the metric's values over the whole epoch, the number of labels that are no class of the
  // predictions, if any, the time, and what the iterator counted, if it counts.
  void Trained(const EvalMetric& metric) const;
  // Writes the values and labels of a validation in the same way, without the time.
  void Validated(const EvalMetric& metric) const;

 private:
  using Clock = std::chrono::steady_clock;

  void Values(const char* what, const EvalMetric& metric) const;

  const LogLine& log_;
  const int epoch_;
  const Clock::time_point start_;
  const DataIter& train_data_;
  DataStatistics data_before_;
};

void EpochLog::Trained(const EvalMetric& metric) const {
  if (!log_) return;
  Values("Train", metric);
  const std::chrono::duration<double> seconds = Clock::now() - start_;
  log_(absl::StrFormat("Epoch[%d] Time cost=%.3f", epoch_, seconds.count()));
  const DataStatistics data = train_data_.statistics().Since(data_before_);
  if (data.batches == 0) return;
  log_(absl::StrFormat("Epoch[%d] Data: %s", epoch_, data.CountsToString()));
  log_(absl::StrFormat("Epoch[%d] Data: %s", epoch_, data.TimesToString()));
}

void EpochLog::Validated(const EvalMetric& metric) const {
  if (log_) Values("Validation", metric);
}

void EpochLog::Values(const char* what, const EvalMetric& metric) const {
  for (const auto& [name, value] : metric.GetGlobalNameValue()) {
    log_(absl::StrFormat("Epoch[%d] %s-%s=%f", epoch_, what, name, value));
  }
  const int64_t outside = metric.labels_out_of_range();
  if (outside == 0) return;
  log_(absl::StrFormat("Epoch[%d] %s: %d labels were no class of the predictions", epoch_, what,
                       outside));
}

// One run of Fit over a module that is bound, initialized and has an optimizer.
class TrainingLoop {
 public:
  // Owns none of the arguments, which must outlive it. A loop runs once.
  TrainingLoop(BaseModule& module, DataIter& train_data, const FitOptions& options);

  // Trains as FitOptions say. Returns the status of BaseModule::Fit.
  absl::Status Run();

 private:
  enum class Next { kBatch, kEpoch, kEnd };

  absl::StatusOr<Next> TrainEpoch();
  // Trains on batch_ and replaces it by the following batch. Returns kEpoch if there is none.
  absl::StatusOr<Next> TrainBatch();
  absl::StatusOr<Next> EndEpoch(const EpochLog& log);
  // Returns false if a callback of the validation ends the training.
  absl::StatusOr<bool> Validate();

  // Returns the first batch of an epoch. It may be absent only if the epoch is resumed or if there
  // are other processes; otherwise an iterator without batches is an error.
  absl::StatusOr<std::optional<DataBatch>> FetchFirst();
  // Returns batch `nbatch` of the epoch, nullopt at its end. Prepares the module for the batch, so
  // that its bucket is bound before a check saves the module's state.
  absl::StatusOr<std::optional<DataBatch>> Fetch(int64_t nbatch);
  // Computes batch_, checks it, and updates once the gradients of accumulate_batches batches are
  // added up.
  absl::Status Step();
  // Updates with the gradients since the last update. With accumulate_batches, zeroes them
  // afterwards.
  absl::Status Update();
  // Lets the caller capture the state after an update, before another batch is fetched.
  absl::Status Capture(int64_t batches_done) const {
    return options_.capture_point ? options_.capture_point(epoch_, batches_done) : absl::OkStatus();
  }
  // Calls the monitor and the callbacks. Returns false if a callback ends the training.
  absl::StatusOr<bool> NotifyBatchEnd();

  // Whether no gradients wait for an update.
  bool settled() const { return accumulated_ == 0; }
  template <typename Result>
  Result AtThisBatch(Result result) const {
    return AtBatch(std::move(result), "Fit", epoch_, nbatch_);
  }

  BaseModule& module_;
  DataIter& train_data_;
  const FitOptions& options_;
  const std::unique_ptr<EvalMetric> accuracy_;  // null if there is an eval_metric
  EvalMetric& metric_;
  EvalMetric& validation_metric_;
  StopRequests stops_;
  FitChecks checks_;

  int epoch_ = 0;
  std::optional<DataBatch> batch_;  // absent after the last batch of an epoch
  int64_t nbatch_ = 0;              // number of batch_ in the epoch
  int accumulated_ = 0;             // batches since the last update
};

TrainingLoop::TrainingLoop(BaseModule& module, DataIter& train_data, const FitOptions& options)
    : module_(module),
      train_data_(train_data),
      options_(options),
      accuracy_(options.eval_metric == nullptr ? Accuracy({}) : nullptr),
      metric_(options.eval_metric == nullptr ? *accuracy_ : *options.eval_metric),
      validation_metric_(options.validation_metric == nullptr ? metric_
                                                              : *options.validation_metric),
      stops_(module, options),
      checks_(module, train_data, options) {}

absl::Status TrainingLoop::Run() {
  checks_.WarnOfUnknownNames();
  checks_.WarnOfUnusedSamples(train_data_);
  if (options_.eval_metric == nullptr) checks_.WarnOfDefaultMetric();
  Next next = Next::kEpoch;
  for (epoch_ = options_.begin_epoch; epoch_ < options_.num_epoch && next != Next::kEnd; ++epoch_) {
    COOPER_ASSIGN_OR_RETURN(next, TrainEpoch());
  }
  return options_.end_point ? options_.end_point() : absl::OkStatus();
}

absl::StatusOr<TrainingLoop::Next> TrainingLoop::TrainEpoch() {
  const EpochLog log(options_.progress, epoch_, train_data_);
  nbatch_ = epoch_ == options_.begin_epoch ? options_.begin_batch : 0;
  // A metric that continues in the middle of an epoch was restored with the rest of the state.
  if (nbatch_ == 0) metric_.Reset();
  COOPER_ASSIGN_OR_RETURN(batch_, FetchFirst());
  Next next = batch_.has_value() ? Next::kBatch : Next::kEpoch;
  while (next == Next::kBatch) {
    COOPER_ASSIGN_OR_RETURN(next, TrainBatch());
  }
  bool keep_going = next == Next::kEpoch;
  if (keep_going) {
    // Saved states of all processes belong together, so a process without batches captures its
    // state too.
    COOPER_ASSIGN_OR_RETURN(keep_going, stops_.FinishEpoch([this] { return Capture(nbatch_); }));
  }
  // A signal may have come with the last update or after it.
  if (stops_.SignalEnds(settled())) return stops_.EndBySignal(epoch_, nbatch_);
  if (!keep_going) return Next::kEnd;
  return EndEpoch(log);
}

absl::StatusOr<TrainingLoop::Next> TrainingLoop::TrainBatch() {
  if (options_.monitor != nullptr) COOPER_RETURN_IF_ERROR(AtThisBatch(options_.monitor->Tic()));
  COOPER_RETURN_IF_ERROR(AtThisBatch(Step()));
  COOPER_RETURN_IF_ERROR(
      AtThisBatch(FeedMetric(module_, metric_, *batch_, /*count_padding=*/true)));
  if (settled()) COOPER_RETURN_IF_ERROR(Capture(nbatch_ + 1));
  if (stops_.SignalEnds(settled())) return stops_.EndBySignal(epoch_, nbatch_ + 1);
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> following, Fetch(nbatch_ + 1));
  if (!following.has_value() && !settled()) {
    COOPER_RETURN_IF_ERROR(AtThisBatch(Update()));
    COOPER_RETURN_IF_ERROR(Capture(nbatch_ + 1));
  }
  COOPER_ASSIGN_OR_RETURN(bool keep_going, AtThisBatch(NotifyBatchEnd()));
  batch_ = std::move(following);
  ++nbatch_;
  COOPER_ASSIGN_OR_RETURN(keep_going, stops_.ContinueAfterBatch(keep_going));
  if (!keep_going) return Next::kEnd;
  return batch_.has_value() ? Next::kBatch : Next::kEpoch;
}

absl::StatusOr<TrainingLoop::Next> TrainingLoop::EndEpoch(const EpochLog& log) {
  COOPER_RETURN_IF_ERROR(AddContext(checks_.AfterEpoch(), "Fit: after epoch ", epoch_));
  COOPER_RETURN_IF_ERROR(AddContext(module_.AverageContexts(), "Fit: after epoch ", epoch_));
  log.Trained(metric_);
  bool keep_going = true;
  for (const EpochEndCallback& callback : options_.epoch_end_callbacks) {
    COOPER_ASSIGN_OR_RETURN(const bool more, callback(epoch_, module_));
    keep_going = more && keep_going;
  }
  if (options_.eval_data != nullptr) {
    COOPER_ASSIGN_OR_RETURN(const bool more, Validate());
    keep_going = more && keep_going;
    log.Validated(validation_metric_);
  }
  COOPER_ASSIGN_OR_RETURN(keep_going, stops_.ContinueAfterEpoch(keep_going));
  if (!keep_going || epoch_ + 1 == options_.num_epoch) FitChecks::WarnOfRolledOver(train_data_);
  COOPER_RETURN_IF_ERROR(train_data_.Reset());
  if (keep_going && stops_.SignalEnds(/*settled=*/true)) return stops_.EndBySignal(epoch_ + 1, 0);
  return keep_going ? Next::kEpoch : Next::kEnd;
}

absl::StatusOr<bool> TrainingLoop::Validate() {
  const ScoreOptions options{.epoch = epoch_,
                             .batch_end_callbacks = options_.eval_batch_end_callbacks,
                             .score_end_callbacks = options_.eval_end_callbacks,
                             .count_padding = options_.validation_counts_padding};
  COOPER_ASSIGN_OR_RETURN(const ScoreEnd end,
                          ScoreBatches(module_, *options_.eval_data, validation_metric_, options));
  if (end.batches == 0) return NoBatch("eval_data", epoch_);
  return end.keep_going;
}

absl::StatusOr<std::optional<DataBatch>> TrainingLoop::FetchFirst() {
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, Fetch(nbatch_));
  if (batch.has_value() || nbatch_ > 0 || stops_.several_processes()) return batch;
  // The iterator may have been read to its end before Fit.
  COOPER_RETURN_IF_ERROR(train_data_.Reset());
  COOPER_ASSIGN_OR_RETURN(batch, Fetch(nbatch_));
  if (!batch.has_value()) return NoBatch("train_data", epoch_);
  return batch;
}

absl::StatusOr<std::optional<DataBatch>> TrainingLoop::Fetch(int64_t nbatch) {
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch,
                          AtBatch(FetchBatch(train_data_), "Fit", epoch_, nbatch));
  if (batch.has_value()) {
    COOPER_RETURN_IF_ERROR(AtBatch(module_.Prepare(*batch), "Fit", epoch_, nbatch));
  }
  return batch;
}

absl::Status TrainingLoop::Step() {
  // One TrainStep includes the update if nothing reads the gradients, or adds others to them,
  // before it.
  const bool at_once =
      options_.accumulate_batches <= 1 && !checks_.reads_ids() && !stops_.several_processes();
  COOPER_RETURN_IF_ERROR(checks_.BeforeBatch());
  const absl::Status computed =
      module_.TrainStep(*batch_, {.check_finite = options_.check_finite, .update = at_once});
  COOPER_RETURN_IF_ERROR(checks_.AfterBatch(*batch_, computed));
  if (at_once) return absl::OkStatus();
  stops_.AnnounceSignal();
  return ++accumulated_ >= options_.accumulate_batches ? Update() : absl::OkStatus();
}

absl::Status TrainingLoop::Update() {
  accumulated_ = 0;
  COOPER_RETURN_IF_ERROR(module_.Update());
  return options_.accumulate_batches > 1 ? module_.ZeroGrads() : absl::OkStatus();
}

absl::StatusOr<bool> TrainingLoop::NotifyBatchEnd() {
  if (options_.monitor != nullptr) COOPER_RETURN_IF_ERROR(options_.monitor->TocPrint());
  return CallAll(options_.batch_end_callbacks, {.epoch = epoch_,
                                                .nbatch = nbatch_,
                                                .eval_metric = &metric_,
                                                .module = &module_,
                                                .batch = &*batch_});
}

}  // namespace

absl::Status BaseModule::BindToFit(const DataIter& train_data, const FitOptions& options) {
  COOPER_RETURN_IF_ERROR(BindForFit(*this, train_data, options, fit_accumulation_));
  fit_accumulation_ = options.accumulate_batches > 1;
  return absl::OkStatus();
}

absl::Status BaseModule::Fit(DataIter& train_data, const FitOptions& options) {
  if (options.num_epoch <= 0) {
    return absl::InvalidArgumentError("Fit: num_epoch is required and must be positive");
  }
  COOPER_RETURN_IF_ERROR(BindToFit(train_data, options));
  if (options.monitor != nullptr) COOPER_RETURN_IF_ERROR(options.monitor->Install(*this));
  COOPER_RETURN_IF_ERROR(InitParams(ParamsOptionsForFit(options)));
  if (options.accumulate_batches > 1) COOPER_RETURN_IF_ERROR(ZeroGrads());
  COOPER_RETURN_IF_ERROR(InitOptimizer(OptimizerOptionsForFit(options)));
  return TrainingLoop(*this, train_data, options).Run();
}

}  // namespace cooper
