#include "module/evaluate/evaluate.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/evaluate/batch_descs.h"
#include "module/evaluate/feed_metric.h"
#include "module/rows/predicted_rows.h"
#include "module/rows/sample_rows.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// Returns kInvalidArgument if a prediction would have no row for some samples and the caller does
// not ask for ids, which show it.
absl::Status CheckServesAll(const DataIter& data, const PredictOptions& options) {
  if (options.num_batch >= 0 || options.ids != nullptr) return absl::OkStatus();
  const UnusedSamples unused = data.unused_samples();
  if (unused.this_epoch == 0 || unused.by_request) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Predict: no batch holds ", unused.this_epoch, " of ", unused.all,
                   " samples, which would have no row: ", unused.why,
                   "; or set PredictOptions::ids, which receives the sample of each row"));
}

// Computes the batches one after the other and calls `visit` with each batch and its outputs, which
// are valid until the next batch.
absl::Status EvaluateEach(BaseModule& module, DataIter& data, const PredictOptions& options,
                          absl::FunctionRef<absl::Status(const DataBatch& batch, int64_t nbatch,
                                                         absl::Span<const NDArray> outputs)>
                              visit) {
  if (options.reset) COOPER_RETURN_IF_ERROR(data.HardReset());
  for (int64_t nbatch = 0; nbatch != options.num_batch; ++nbatch) {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, FetchBatch(data));
    if (!batch.has_value()) break;
    COOPER_RETURN_IF_ERROR(AtBatch(module.ForwardToEvaluate(*batch), "IterPredict", 0, nbatch));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, module.GetOutputs());
    COOPER_RETURN_IF_ERROR(visit(*batch, nbatch, outputs));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<DataBatch>> FetchBatch(DataIter& iter) {
  const ScopedProfile profile(ProfileCategory::kStep, "data");
  return iter.Next();
}

absl::StatusOr<bool> CallAll(const std::vector<BatchEndCallback>& callbacks,
                             const BatchEndParam& param) {
  bool keep_going = true;
  for (const BatchEndCallback& callback : callbacks) {
    COOPER_ASSIGN_OR_RETURN(const bool more, callback(param));
    keep_going = more && keep_going;
  }
  return keep_going;
}

absl::StatusOr<ScoreEnd> ScoreBatches(BaseModule& module, DataIter& eval_data, EvalMetric& metric,
                                      const ScoreOptions& options) {
  if (options.reset) COOPER_RETURN_IF_ERROR(eval_data.HardReset());
  metric.Reset();
  ScoreEnd end;
  const auto param = [&](const DataBatch* batch) -> BatchEndParam {
    return {.epoch = options.epoch,
            .nbatch = end.batches,
            .eval_metric = &metric,
            .module = &module,
            .batch = batch};
  };
  const auto at_batch = [&](auto result) {
    return AtBatch(std::move(result), "Score", options.epoch, end.batches);
  };
  for (; end.batches != options.num_batch && end.keep_going; ++end.batches) {
    COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, FetchBatch(eval_data));
    if (!batch.has_value()) break;
    COOPER_RETURN_IF_ERROR(at_batch(module.ForwardToEvaluate(*batch)));
    COOPER_RETURN_IF_ERROR(at_batch(FeedMetric(module, metric, *batch, options.count_padding)));
    COOPER_ASSIGN_OR_RETURN(end.keep_going,
                            at_batch(CallAll(options.batch_end_callbacks, param(&*batch))));
  }
  COOPER_ASSIGN_OR_RETURN(const bool keep_going,
                          AddContext(CallAll(options.score_end_callbacks, param(nullptr)),
                                     "Score: after the evaluation of epoch ", options.epoch));
  end.keep_going = keep_going && end.keep_going;
  return end;
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> BaseModule::Score(
    DataIter& eval_data, EvalMetric& metric, const ScoreOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("Score"));
  COOPER_ASSIGN_OR_RETURN(const ScoreEnd end, ScoreBatches(*this, eval_data, metric, options));
  // GetGlobalNameValue covers all batches, even if a callback has reset the local sums.
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
                          // The next batch overwrites the outputs.
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
