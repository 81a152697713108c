#include "module/metric/eval_metric.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the arrays of these names; all arrays if unset.
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
  COOPER_RETURN_IF_ERROR(CheckNamesUnique(arrays, *names, metric, what));
  return selected;
}

}  // namespace

absl::Status CheckNamesUnique(const NamedArrayList& arrays, absl::Span<const std::string> names,
                              absl::string_view metric, absl::string_view what) {
  for (const std::string& wanted : names) {
    std::vector<std::string> found;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].first != wanted) continue;
      found.push_back(absl::StrCat("number ", i, " ", arrays[i].second.shape().ToString()));
    }
    if (found.size() < 2) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(metric, ": the name '", wanted, "' of a selected ", what, " is that of ",
                     absl::StrJoin(found, " and "), "; give one of them another name"));
  }
  return absl::OkStatus();
}

std::vector<size_t> LabelValues::Positions() const {
  std::vector<size_t> positions;
  for (size_t i = 0; i < values.size(); ++i) {
    if (Counts(i)) positions.push_back(i);
  }
  return positions;
}

absl::Status TotalsMetric::Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                                  absl::Span<const NDArray> masks) {
  COOPER_ASSIGN_OR_RETURN(const Totals batch, BatchTotals(labels, preds, masks));
  Add(batch, &local_);
  Add(batch, &global_);
  return absl::OkStatus();
}

absl::Status TotalsMetric::UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                                      const NamedArrayList& masks) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> selected_preds,
                          Select(preds, options_.output_names, name_, "output"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> selected_labels,
                          Select(labels, options_.label_names, name_, "label"));
  if (masks.empty()) return Update(selected_labels, selected_preds);
  const bool of_preds = labels.empty();
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> selected_masks,
                          Select(masks, of_preds ? options_.output_names : options_.label_names,
                                 name_, of_preds ? "mask of an output" : "mask of a label"));
  return Update(selected_labels, selected_preds, selected_masks);
}

absl::Status TotalsMetric::CheckMasks(absl::Span<const NDArray> masks, size_t count,
                                      absl::string_view what) const {
  if (masks.empty() || masks.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", count, " ", what, "s but ", masks.size(), " masks"));
}

absl::StatusOr<std::vector<bool>> TotalsMetric::ReadMask(const NDArray& mask, const NDArray& array,
                                                         absl::string_view what) const {
  std::vector<bool> counted;
  if (mask.is_null()) return counted;
  if (mask.shape() != array.shape()) {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": mask is ", mask.ToString(), ", ", what,
                                                   " ", array.ToString(), ": expected one shape"));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> values, mask.ToVector<float>());
  for (const float value : values) counted.push_back(value != 0);
  return counted;
}

absl::StatusOr<LabelValues> TotalsMetric::ReadLabel(const NDArray& label,
                                                    const NDArray& mask) const {
  LabelValues read = {.array = label};
  COOPER_ASSIGN_OR_RETURN(read.values, label.ToVector<double>());
  COOPER_ASSIGN_OR_RETURN(read.counted, ReadMask(mask, label, "label"));
  if (!ignore_label_.has_value()) return read;
  if (read.counted.empty()) read.counted.assign(read.values.size(), true);
  for (size_t i = 0; i < read.values.size(); ++i) {
    if (read.values[i] == *ignore_label_) read.counted[i] = false;
  }
  return read;
}

absl::StatusOr<TotalsMetric::Totals> TotalsMetric::BatchTotals(
    absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
    absl::Span<const NDArray> masks) const {
  if (labels.size() != preds.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": ", labels.size(), " labels but ", preds.size(), " predictions"));
  }
  COOPER_RETURN_IF_ERROR(CheckMasks(masks, labels.size(), "label"));
  Totals batch;
  for (size_t i = 0; i < labels.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const LabelValues label,
                            ReadLabel(labels[i], masks.empty() ? NDArray() : masks[i]));
    COOPER_ASSIGN_OR_RETURN(const Totals pair, PairTotals(label, preds[i]));
    Add(pair, &batch);
  }
  return batch;
}

absl::StatusOr<TotalsMetric::Totals> TotalsMetric::PairTotals(const LabelValues&,
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

int64_t TotalsMetric::labels_out_of_range() const {
  return counts_out_of_range() && global_.size() > 2 ? IntegerOf<int64_t>(global_[2]) : 0;
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
  COOPER_ASSIGN_OR_RETURN(Totals global, state.GetDoubles("global"));
  for (const Totals* totals : {&local, &global}) {
    if (totals->empty() || IsNumTotals(totals->size())) continue;
    return absl::InvalidArgumentError(absl::StrCat(name_, ": the state has ", totals->size(),
                                                   " totals, which is not what this metric has"));
  }
  local_ = std::move(local);
  global_ = std::move(global);
  return absl::OkStatus();
}

absl::Status TotalsMetric::Mismatch(const LabelValues& label, const NDArray& pred,
                                    absl::string_view why) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, ": label is ", label.array.ToString(),
                                                 ", prediction ", pred.ToString(), ": ", why));
}

absl::StatusOr<NDArray> FloatOnCpu(const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(NDArray on_cpu, OnCpu(array));
  if (on_cpu.dtype() == DType::kFloat32) return on_cpu;
  return on_cpu.AsType(DType::kFloat32);
}

}  // namespace cooper
