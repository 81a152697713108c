// The loops over an iterator: Fit, Score, IterPredict and Predict.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/evaluate/batch_descs.h"
#include "module/evaluate/feed_metric.h"
#include "module/fit/epoch_log.h"
#include "module/fit/fit_bind.h"
#include "module/fit/fit_checks.h"
#include "module/fit/fit_processes.h"
#include "module/fit/stop_signal.h"
#include "module/interface/base_module.h"
#include "module/metric/classification.h"
#include "module/rows/predicted_rows.h"
#include "module/rows/sample_rows.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

absl::Status AtBatch(const absl::Status& status, const char* loop, int epoch, int64_t nbatch) {
  return AddContext(status, loop, ": epoch ", epoch, ", batch ", nbatch);
}

absl::StatusOr<std::optional<DataBatch>> NextBatch(DataIter& iter) {
  const ScopedProfile profile(ProfileCategory::kStep, "data");
  return iter.Next();
}

// With gradients that add up, the sum begins anew after an update.
absl::Status UpdateAndForget(BaseModule& module, const FitOptions& options, int* added_up) {
  *added_up = 0;
  COOPER_RETURN_IF_ERROR(module.Update());
  return options.accumulate_batches > 1 ? module.ZeroGrads() : absl::OkStatus();
}

// Saves what there is. The signal may have come to another process.
absl::Status EndedBySignal(const FitOptions& options, const std::optional<StopSignal>& signal,
                           int epoch, int64_t batches_done) {
  if (options.stop_point) COOPER_RETURN_IF_ERROR(options.stop_point(epoch, batches_done));
  const int number = signal.has_value() ? signal->received() : 0;
  return absl::CancelledError(absl::StrCat(
      "Fit: ", number == 0 ? "a signal to another process" : absl::StrCat("signal ", number),
      " ended the training in epoch ", epoch, " after ", batches_done, " batches"));
}

// A source that has nothing is a mistake, which a metric would show as NaN at best. Of several
// processes one may have no batch of its own.
absl::Status NoBatch(const char* what, int epoch) {
  return absl::InvalidArgumentError(
      absl::StrCat("Fit: epoch ", epoch, ": ", what, " has no batch"));
}

// Calls all callbacks, also behind one that returns false. An error ends it at once.
absl::StatusOr<bool> CallAll(const std::vector<BatchEndCallback>& callbacks,
                             const BatchEndParam& param) {
  bool go_on = true;
  for (const BatchEndCallback& callback : callbacks) {
    COOPER_ASSIGN_OR_RETURN(const bool more, callback(param));
    go_on = more && go_on;
  }
  return go_on;
}

// Every sample has a row, if the caller cannot tell from ids which have one.
absl::Status CheckServesAll(const DataIter& data, const PredictOptions& options) {
  if (options.num_batch >= 0 || options.ids != nullptr) return absl::OkStatus();
  const UnusedSamples unused = data.unused_samples();
  if (unused.this_epoch == 0 || unused.by_request) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Predict: no batch holds ", unused.this_epoch, " of ", unused.all,
                   " samples, which would have no row: ", unused.why,
                   "; or ask for PredictOptions::ids, which say whose rows there are"));
}

// Computes batch after batch, and shows each with its outputs, which live in the arena.
absl::Status EvaluateEach(BaseModule& module, DataIter& data, const PredictOptions& options,
                          absl::FunctionRef<absl::Status(const DataBatch& batch, int64_t nbatch,
                                                         absl::Span<const NDArray> outputs)>
                              visit) {
  if (options.reset) COOPER_RETURN_IF_ERROR(data.HardReset());
  for (int64_t nbatch = 0; nbatch != options.num_batch; ++nbatch) {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, NextBatch(data));
    if (!batch.has_value()) break;
    absl::Status status = module.ForwardToEvaluate(*batch);
    if (!status.ok()) return AtBatch(status, "IterPredict", 0, nbatch);
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, module.GetOutputs());
    COOPER_RETURN_IF_ERROR(visit(*batch, nbatch, outputs));
  }
  return absl::OkStatus();
}

}  // namespace

InitOptimizerOptions OptimizerOptionsForFit(const FitOptions& options) {
  InitOptimizerOptions optimizer = options.optimizer;
  optimizer.batches_per_update *= std::max(1, options.accumulate_batches);
  return optimizer;
}

InitParamsOptions ParamsOptionsForFit(const FitOptions& options) {
  InitParamsOptions params = options.params;
  if (!params.seed.has_value()) params.seed = options.seed;
  return params;
}

absl::Status BaseModule::BindToFit(const DataIter& train_data, const FitOptions& options) {
  COOPER_RETURN_IF_ERROR(BindForFit(*this, train_data, options, fit_added_up_));
  fit_added_up_ = options.accumulate_batches > 1;
  return absl::OkStatus();
}

absl::Status BaseModule::Fit(DataIter& train_data, const FitOptions& options) {
  if (options.num_epoch <= 0) {
    return absl::InvalidArgumentError("Fit: num_epoch is required and must be positive");
  }
  const bool adds = options.accumulate_batches > 1;
  COOPER_RETURN_IF_ERROR(BindToFit(train_data, options));
  if (options.monitor != nullptr) COOPER_RETURN_IF_ERROR(options.monitor->Install(*this));
  COOPER_RETURN_IF_ERROR(InitParams(ParamsOptionsForFit(options)));
  if (adds) COOPER_RETURN_IF_ERROR(ZeroGrads());
  COOPER_RETURN_IF_ERROR(InitOptimizer(OptimizerOptionsForFit(options)));
  std::unique_ptr<EvalMetric> accuracy;
  EvalMetric* metric = options.eval_metric;
  if (metric == nullptr) {
    accuracy = Accuracy({});
    metric = accuracy.get();
  }
  EvalMetric* validation_metric =
      options.validation_metric != nullptr ? options.validation_metric : metric;

  FitProcesses processes(*this);
  FitChecks checks(*this, train_data, options);
  checks.WarnOfUnknownNames();
  checks.WarnOfUnusedSamples(train_data);
  if (options.eval_metric == nullptr) checks.WarnOfDefaultMetric();
  std::optional<StopSignal> signal;
  if (options.stop_on_signal) signal.emplace();
  const auto signalled = [&signal] { return signal.has_value() && signal->received() != 0; };
  int added_up = 0;  // batches since the last update
  bool go_on = true;
  for (int epoch = options.begin_epoch; epoch < options.num_epoch && go_on; ++epoch) {
    int64_t nbatch = epoch == options.begin_epoch ? options.begin_batch : 0;
    const EpochLog log_epoch(options.progress, epoch);
    // A metric in the middle of an epoch was put back with the rest of the state.
    if (nbatch == 0) metric->Reset();
    auto first = NextBatch(train_data);
    if (first.ok() && !first->has_value() && nbatch == 0 && !processes.several()) {
      // Somebody may have used it up before.
      COOPER_RETURN_IF_ERROR(train_data.Reset());
      first = NextBatch(train_data);
      if (first.ok() && !first->has_value()) return NoBatch("train_data", epoch);
    }
    if (!first.ok()) return AtBatch(first.status(), "Fit", epoch, nbatch);
    std::optional<DataBatch> batch = *std::move(first);
    // Before what its bucket brings is kept, in case of NaN; those behind it are prepared below.
    if (batch.has_value()) {
      const absl::Status prepared = Prepare(*batch);
      if (!prepared.ok()) return AtBatch(prepared, "Fit", epoch, nbatch);
    }
    while (batch.has_value() && go_on) {
      absl::Status status = options.monitor != nullptr ? options.monitor->Tic() : absl::OkStatus();
      if (status.ok()) status = checks.BeforeBatch();
      if (status.ok()) status = ForwardBackward(*batch);
      if (status.ok()) status = checks.AfterBatch(*batch);
      const bool update = ++added_up >= options.accumulate_batches;
      if (signalled()) processes.RequestStop(StopReason::kSignal);
      if (status.ok() && update) status = UpdateAndForget(*this, options, &added_up);
      if (status.ok()) status = FeedMetric(*this, *metric, *batch, /*count_padding=*/true);
      if (!status.ok()) return AtBatch(status, "Fit", epoch, nbatch);
      if (options.capture_point && update) {
        COOPER_RETURN_IF_ERROR(options.capture_point(epoch, nbatch + 1));
      }
      // Several processes end after the same update, so that their states belong together.
      if (processes.several() ? processes.stop_reason() == StopReason::kSignal
                              : signalled() && update) {
        return EndedBySignal(options, signal, epoch, nbatch + 1);
      }
      auto next = NextBatch(train_data);
      if (!next.ok()) return AtBatch(next.status(), "Fit", epoch, nbatch + 1);
      if (!next->has_value() && added_up > 0) {
        status = UpdateAndForget(*this, options, &added_up);
        if (!status.ok()) return AtBatch(status, "Fit", epoch, nbatch);
        if (options.capture_point) {
          COOPER_RETURN_IF_ERROR(options.capture_point(epoch, nbatch + 1));
        }
      }
      if (next->has_value()) status = Prepare(**next);
      if (!status.ok()) return AtBatch(status, "Fit", epoch, nbatch + 1);
      if (options.monitor != nullptr) status = options.monitor->TocPrint();
      if (!status.ok()) return AtBatch(status, "Fit", epoch, nbatch);
      const auto more = CallAll(options.batch_end_callbacks, {.epoch = epoch,
                                                              .nbatch = nbatch,
                                                              .eval_metric = metric,
                                                              .module = this,
                                                              .batch = &*batch});
      if (!more.ok()) return AtBatch(more.status(), "Fit", epoch, nbatch);
      go_on = *more;
      batch = *std::move(next);
      ++nbatch;
      if (!go_on) COOPER_RETURN_IF_ERROR(processes.Stop(StopReason::kCallback));
      go_on = go_on && !processes.stop_requested();
    }
    if (go_on) {
      // States of all processes belong together, whichever of them have batches.
      COOPER_RETURN_IF_ERROR(processes.FinishEpoch(signal, [&]() -> absl::Status {
        return options.capture_point ? options.capture_point(epoch, nbatch) : absl::OkStatus();
      }));
    }
    if (processes.stop_reason() == StopReason::kSignal) {
      return EndedBySignal(options, signal, epoch, nbatch);
    }
    // One that came behind the last update, or with it.
    if (!processes.several() && signalled() && added_up == 0) {
      return EndedBySignal(options, signal, epoch, nbatch);
    }
    if (!go_on || processes.stop_requested()) break;
    COOPER_RETURN_IF_ERROR(AddContext(checks.AfterEpoch(), "Fit: after epoch ", epoch));
    COOPER_RETURN_IF_ERROR(AddContext(AverageContexts(), "Fit: after epoch ", epoch));
    log_epoch.Trained(*metric);
    for (const EpochEndCallback& callback : options.epoch_end_callbacks) {
      COOPER_ASSIGN_OR_RETURN(const bool more, callback(epoch, *this));
      go_on = more && go_on;
    }
    if (options.eval_data != nullptr) {
      const ScoreOptions score{.epoch = epoch,
                               .batch_end_callbacks = options.eval_batch_end_callbacks,
                               .score_end_callbacks = options.eval_end_callbacks,
                               .count_padding = options.validation_counts_padding};
      COOPER_ASSIGN_OR_RETURN(const ScoreEnd end,
                              RunScore(*options.eval_data, *validation_metric, score));
      if (end.batches == 0) return NoBatch("eval_data", epoch);
      go_on = end.go_on && go_on;
      log_epoch.Validated(*validation_metric);
    }
    COOPER_ASSIGN_OR_RETURN(go_on, processes.AllGoOn(go_on));
    if (!go_on || epoch + 1 == options.num_epoch) checks.WarnOfRolledOver(train_data);
    COOPER_RETURN_IF_ERROR(train_data.Reset());
    if (!processes.several() && go_on && signalled()) {
      return EndedBySignal(options, signal, epoch + 1, 0);
    }
  }
  return options.end_point ? options.end_point() : absl::OkStatus();
}

absl::StatusOr<BaseModule::ScoreEnd> BaseModule::RunScore(DataIter& eval_data, EvalMetric& metric,
                                                          const ScoreOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("Score"));
  if (options.reset) COOPER_RETURN_IF_ERROR(eval_data.HardReset());
  metric.Reset();
  ScoreEnd end;
  for (; end.batches != options.num_batch && end.go_on; ++end.batches) {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, NextBatch(eval_data));
    if (!batch.has_value()) break;
    absl::Status status = ForwardToEvaluate(*batch);
    if (status.ok()) status = FeedMetric(*this, metric, *batch, options.count_padding);
    if (!status.ok()) return AtBatch(status, "Score", options.epoch, end.batches);
    const auto more = CallAll(options.batch_end_callbacks, {.epoch = options.epoch,
                                                            .nbatch = end.batches,
                                                            .eval_metric = &metric,
                                                            .module = this,
                                                            .batch = &*batch});
    if (!more.ok()) return AtBatch(more.status(), "Score", options.epoch, end.batches);
    end.go_on = *more;
  }
  const auto go_on = CallAll(options.score_end_callbacks, {.epoch = options.epoch,
                                                           .nbatch = end.batches,
                                                           .eval_metric = &metric,
                                                           .module = this,
                                                           .batch = nullptr});
  if (!go_on.ok()) {
    return AddContext(go_on.status(), "Score: after the evaluation of epoch ", options.epoch);
  }
  end.go_on = *go_on && end.go_on;
  return end;
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> BaseModule::Score(
    DataIter& eval_data, EvalMetric& metric, const ScoreOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const ScoreEnd end, RunScore(eval_data, metric, options));
  // Values over all batches, whatever a callback has reset.
  auto values = metric.GetGlobalNameValue();
  for (const auto& [name, value] : values) {
    if (!std::isnan(value)) continue;
    return absl::OutOfRangeError(absl::StrCat(
        "Score: metric '", name, "' is NaN over ", end.batches,
        " batches: either no sample counted (no batch, or all labels are ignored), or outputs or "
        "labels are not finite"));
  }
  return values;
}

absl::Status BaseModule::IterPredict(
    DataIter& eval_data,
    absl::FunctionRef<absl::Status(const std::vector<NDArray>&, int64_t, const DataBatch&)> visit,
    const PredictOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("IterPredict"));
  return EvaluateEach(*this, eval_data, options,
                      [&](const DataBatch& batch, int64_t nbatch,
                          absl::Span<const NDArray> outputs) -> absl::Status {
                        const int64_t samples = NumSamples(batch, DataDescs(*this, batch));
                        const std::vector<BatchLayout> layouts =
                            batch.pad > 0 ? output_layouts() : std::vector<BatchLayout>();
                        std::vector<NDArray> rows;
                        for (size_t k = 0; k < outputs.size(); ++k) {
                          const BatchLayout layout =
                              k < layouts.size() ? layouts[k] : BatchLayout();
                          auto kept = WithoutPadding(outputs[k], layout, samples, batch.pad);
                          if (!kept.ok()) {
                            return AddContext(kept.status(), "IterPredict: output ", k, " '",
                                              output_names()[k], "'");
                          }
                          // Outputs live in the arena.
                          COOPER_ASSIGN_OR_RETURN(rows.emplace_back(), kept->Copy());
                        }
                        return visit(rows, nbatch, batch);
                      });
}

absl::StatusOr<std::vector<NDArray>> BaseModule::Predict(DataIter& eval_data,
                                                         const PredictOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("Predict"));
  if (options.reset) COOPER_RETURN_IF_ERROR(eval_data.HardReset());
  COOPER_RETURN_IF_ERROR(CheckServesAll(eval_data, options));
  PredictOptions from_here = options;
  from_here.reset = false;
  PredictedRows rows(options.input_order);
  const auto compute = [this](const DataBatch& batch) -> absl::StatusOr<std::vector<NDArray>> {
    COOPER_RETURN_IF_ERROR(ForwardToEvaluate(batch));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, GetOutputs());
    return std::vector<NDArray>(outputs.begin(), outputs.end());
  };
  COOPER_RETURN_IF_ERROR(EvaluateEach(
      *this, eval_data, from_here,
      [&](const DataBatch& batch, int64_t, absl::Span<const NDArray> outputs) -> absl::Status {
        std::vector<NDArray> copies;
        for (const NDArray& output : outputs) {
          COOPER_ASSIGN_OR_RETURN(copies.emplace_back(), output.Copy());
        }
        const std::vector<DataDesc>& data = DataDescs(*this, batch);
        return rows.Add(batch, data, LabelDescs(*this, batch), NumSamples(batch, data),
                        output_layouts(), std::move(copies), compute);
      }));
  std::vector<int64_t> ids;
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> joined, rows.Join(output_names(), &ids));
  if (options.ids != nullptr) *options.ids = std::move(ids);
  return joined;
}

absl::StatusOr<std::vector<std::vector<NDArray>>> BaseModule::PredictBatches(
    DataIter& eval_data, const PredictOptions& options) {
  std::vector<std::vector<NDArray>> batches;
  COOPER_RETURN_IF_ERROR(IterPredict(
      eval_data,
      [&batches](const std::vector<NDArray>& outputs, int64_t, const DataBatch&) {
        batches.push_back(outputs);
        return absl::OkStatus();
      },
      options));
  return batches;
}

absl::StatusOr<std::vector<NDArray>> BaseModule::Predict(const NDArray& data) {
  COOPER_RETURN_IF_ERROR(ForwardToEvaluate({.data = {data}}));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, GetOutputs());
  std::vector<NDArray> copies;
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(copies.emplace_back(), output.Copy());
  }
  return copies;
}

}  // namespace cooper
