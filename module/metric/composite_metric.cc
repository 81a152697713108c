#include "module/metric/composite_metric.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "module/metric/metric_registry.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<NamedArrayList> Keep(const NamedArrayList& arrays,
                                    const std::optional<std::vector<std::string>>& names) {
  if (!names.has_value()) return arrays;
  COOPER_RETURN_IF_ERROR(CheckNamesUnique(arrays, *names, "composite metric", "array"));
  NamedArrayList kept;
  for (const auto& entry : arrays) {
    if (std::find(names->begin(), names->end(), entry.first) != names->end()) kept.push_back(entry);
  }
  return kept;
}

void Append(std::vector<NamedValue> more, std::vector<NamedValue>* values) {
  values->insert(values->end(), more.begin(), more.end());
}

}  // namespace

CompositeEvalMetric::CompositeEvalMetric(std::vector<std::unique_ptr<EvalMetric>> metrics,
                                         MetricOptions options)
    : metrics_(std::move(metrics)), options_(std::move(options)) {}

void CompositeEvalMetric::AddMetric(std::unique_ptr<EvalMetric> metric) {
  metrics_.push_back(std::move(metric));
}

absl::StatusOr<EvalMetric*> CompositeEvalMetric::GetMetric(int index) const {
  if (index < 0 || index >= static_cast<int>(metrics_.size())) {
    return absl::NotFoundError(
        absl::StrCat("composite metric: no metric ", index, " among ", metrics_.size()));
  }
  return metrics_[index].get();
}

absl::Status CompositeEvalMetric::Update(absl::Span<const NDArray> labels,
                                         absl::Span<const NDArray> preds,
                                         absl::Span<const NDArray> masks) {
  for (const auto& metric : metrics_) COOPER_RETURN_IF_ERROR(metric->Update(labels, preds, masks));
  return absl::OkStatus();
}

bool CompositeEvalMetric::takes_label_probabilities() const {
  return std::all_of(metrics_.begin(), metrics_.end(),
                     [](const auto& metric) { return metric->takes_label_probabilities(); });
}

int64_t CompositeEvalMetric::labels_out_of_range() const {
  int64_t most = 0;
  for (const auto& metric : metrics_) most = std::max(most, metric->labels_out_of_range());
  return most;
}

absl::Status CompositeEvalMetric::UpdateDict(const NamedArrayList& labels,
                                             const NamedArrayList& preds,
                                             const NamedArrayList& masks) {
  return UpdateEach(labels, preds, masks, nullptr);
}

bool CompositeEvalMetric::uses_lengths() const {
  return std::any_of(metrics_.begin(), metrics_.end(), [](const auto& metric) {
    const auto* const of_steps = dynamic_cast<const StepMetric*>(metric.get());
    return of_steps != nullptr && of_steps->uses_lengths();
  });
}

absl::Status CompositeEvalMetric::UpdateSteps(const NamedArrayList& labels,
                                              const NamedArrayList& preds,
                                              const NamedArrayList& masks,
                                              const NamedArrayList& step_masks) {
  return UpdateEach(labels, preds, masks, &step_masks);
}

absl::Status CompositeEvalMetric::UpdateEach(const NamedArrayList& labels,
                                             const NamedArrayList& preds,
                                             const NamedArrayList& masks,
                                             const NamedArrayList* step_masks) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrayList kept_labels, Keep(labels, options_.label_names));
  COOPER_ASSIGN_OR_RETURN(const NamedArrayList kept_preds, Keep(preds, options_.output_names));
  COOPER_ASSIGN_OR_RETURN(
      const NamedArrayList kept_masks,
      Keep(masks, labels.empty() ? options_.output_names : options_.label_names));
  NamedArrayList kept_steps;
  if (step_masks != nullptr) {
    COOPER_ASSIGN_OR_RETURN(kept_steps, Keep(*step_masks, options_.label_names));
  }
  for (const auto& metric : metrics_) {
    auto* const of_steps =
        step_masks == nullptr ? nullptr : dynamic_cast<StepMetric*>(metric.get());
    COOPER_RETURN_IF_ERROR(
        of_steps == nullptr
            ? metric->UpdateDict(kept_labels, kept_preds, kept_masks)
            : of_steps->UpdateSteps(kept_labels, kept_preds, kept_masks, kept_steps));
  }
  return absl::OkStatus();
}

void CompositeEvalMetric::Reset() {
  for (const auto& metric : metrics_) metric->Reset();
}

void CompositeEvalMetric::ResetLocal() {
  for (const auto& metric : metrics_) metric->ResetLocal();
}

std::vector<NamedValue> CompositeEvalMetric::GetNameValue() const {
  std::vector<NamedValue> values;
  for (const auto& metric : metrics_) Append(metric->GetNameValue(), &values);
  return values;
}

std::vector<NamedValue> CompositeEvalMetric::GetGlobalNameValue() const {
  std::vector<NamedValue> values;
  for (const auto& metric : metrics_) Append(metric->GetGlobalNameValue(), &values);
  return values;
}

std::string CompositeEvalMetric::SaveState() const {
  KeyValues state;
  state.SetInt("metrics", static_cast<int64_t>(metrics_.size()));
  for (size_t i = 0; i < metrics_.size(); ++i) {
    state.SetString(absl::StrCat("metric", i), metrics_[i]->SaveState());
  }
  return state.ToString();
}

absl::Status CompositeEvalMetric::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_ASSIGN_OR_RETURN(const int64_t metrics, state.GetInt("metrics"));
  if (metrics != static_cast<int64_t>(metrics_.size())) {
    return absl::InvalidArgumentError(absl::StrCat("composite metric: the state is of ", metrics,
                                                   " metrics, there are ", metrics_.size()));
  }
  std::vector<std::string> states;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(states.emplace_back(), state.GetString(absl::StrCat("metric", i)));
  }
  std::vector<std::string> before;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    before.push_back(metrics_[i]->SaveState());
    absl::Status loaded = metrics_[i]->LoadState(states[i]);
    if (loaded.ok()) continue;
    // Restore the earlier states, and return the error of the child that refused its state.
    for (size_t j = 0; j <= i; ++j) metrics_[j]->LoadState(before[j]).IgnoreError();
    return loaded;
  }
  return absl::OkStatus();
}

namespace {

// Passes ignore_label and use_lengths on to the metrics; a metric without use_lengths refuses it.
struct CompositeOptions {
  MetricOptions common;
  std::vector<std::string> metrics;
  std::string ignore_label;
  bool use_lengths = false;
};

absl::StatusOr<std::unique_ptr<EvalMetric>> MakeComposite(const CompositeOptions& options) {
  Kwargs kwargs;
  if (!options.ignore_label.empty()) kwargs["ignore_label"] = options.ignore_label;
  if (options.use_lengths) kwargs["use_lengths"] = "True";
  std::vector<std::unique_ptr<EvalMetric>> metrics;
  for (const std::string& name : options.metrics) {
    COOPER_ASSIGN_OR_RETURN(metrics.emplace_back(), Metrics().Create(name, kwargs));
  }
  return std::make_unique<CompositeEvalMetric>(std::move(metrics), options.common);
}

const bool kRegistered = RegisterMetric<CompositeOptions>(
    {"compositeevalmetric", "composite"}, MakeComposite, [](auto& d) {
      d.Field("metrics", &CompositeOptions::metrics);
      d.Field("ignore_label", &CompositeOptions::ignore_label);
      d.Field("use_lengths", &CompositeOptions::use_lengths);
    });

}  // namespace
}  // namespace cooper
