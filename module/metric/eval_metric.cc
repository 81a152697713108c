#include "module/metric/eval_metric.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// The arrays of the wanted names, or all.
absl::StatusOr<std::vector<NDArray>> Select(const NamedArrayList& arrays,
                                            const std::optional<std::vector<std::string>>& names,
                                            absl::string_view metric, absl::string_view what) {
  std::vector<NDArray> selected;
  if (!names.has_value()) {
    for (const auto& [name, array] : arrays) selected.push_back(array);
    return selected;
  }
  for (const std::string& wanted : *names) {
    const size_t before = selected.size();
    for (const auto& [name, array] : arrays) {
      if (name == wanted) selected.push_back(array);
    }
    if (selected.size() == before) {
      return absl::NotFoundError(absl::StrCat(metric, ": there is no ", what, " '", wanted, "'"));
    }
  }
  return selected;
}

}  // namespace

absl::Status TotalsMetric::Update(absl::Span<const NDArray> labels,
                                  absl::Span<const NDArray> preds) {
  COOPER_ASSIGN_OR_RETURN(const Totals batch, BatchTotals(labels, preds));
  Add(batch, &local_);
  Add(batch, &global_);
  return absl::OkStatus();
}

absl::Status TotalsMetric::UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> selected_preds,
                          Select(preds, options_.output_names, name_, "output"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> selected_labels,
                          Select(labels, options_.label_names, name_, "label"));
  return Update(selected_labels, selected_preds);
}

absl::StatusOr<TotalsMetric::Totals> TotalsMetric::BatchTotals(
    absl::Span<const NDArray> labels, absl::Span<const NDArray> preds) const {
  if (labels.size() != preds.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": ", labels.size(), " labels but ", preds.size(), " predictions"));
  }
  Totals batch;
  for (size_t i = 0; i < labels.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const Totals pair, PairTotals(labels[i], preds[i]));
    Add(pair, &batch);
  }
  return batch;
}

absl::StatusOr<TotalsMetric::Totals> TotalsMetric::PairTotals(const NDArray&,
                                                              const NDArray&) const {
  return absl::InternalError(absl::StrCat(name_, " does not say what a batch amounts to"));
}

void TotalsMetric::Add(const Totals& more, Totals* totals) const {
  if (totals->size() < more.size()) totals->resize(more.size(), 0.0);
  for (size_t i = 0; i < more.size(); ++i) (*totals)[i] += more[i];
}

double TotalsMetric::Value(const Totals& totals) const {
  return totals[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : totals[0] / totals[1];
}

void TotalsMetric::Reset() {
  local_.clear();
  global_.clear();
}

std::vector<NamedValue> TotalsMetric::GetNameValue() const {
  return {{name_, local_.empty() ? std::numeric_limits<double>::quiet_NaN() : Value(local_)}};
}

std::vector<NamedValue> TotalsMetric::GetGlobalNameValue() const {
  return {{name_, global_.empty() ? std::numeric_limits<double>::quiet_NaN() : Value(global_)}};
}

std::string TotalsMetric::SaveState() const {
  KeyValues state;
  state.SetString("name", name_);
  state.SetDoubles("local", local_);
  state.SetDoubles("global", global_);
  return state.ToString();
}

absl::Status TotalsMetric::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("name", name_));
  COOPER_ASSIGN_OR_RETURN(Totals local, state.GetDoubles("local"));
  COOPER_ASSIGN_OR_RETURN(global_, state.GetDoubles("global"));
  local_ = std::move(local);
  return absl::OkStatus();
}

absl::Status TotalsMetric::Mismatch(const NDArray& label, const NDArray& pred,
                                    absl::string_view why) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, ": label is ", label.ToString(),
                                                 ", prediction ", pred.ToString(), ": ", why));
}

absl::StatusOr<NDArray> FloatOnCpu(const NDArray& array) {
  NDArray result = array;
  if (!result.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(result, result.CopyTo(Context::Cpu()));
  }
  if (result.dtype() != DType::kFloat32) {
    COOPER_ASSIGN_OR_RETURN(result, result.AsType(DType::kFloat32));
  }
  return result;
}

}  // namespace cooper
