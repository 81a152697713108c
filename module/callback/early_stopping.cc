#include "module/callback/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/base_module.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Of MXNet's metrics, those that a good model has large.
bool LargerIsBetter(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* part :
       {"acc", "f1", "mcc", "pcc", "pearson", "correlation", "recall", "precision"}) {
    if (absl::StrContains(lower, part)) return true;
  }
  return false;
}

}  // namespace

BatchEndCallback EarlyStopping::AtEvalEnd() {
  return [this](const BatchEndParam& param) { return Watch(param); };
}

bool EarlyStopping::StopWith(const absl::Status& error) {
  stopped_ = true;
  status_ = error;
  return false;
}

bool EarlyStopping::IsBetter(double value, const std::string& name) const {
  if (std::isnan(value)) return false;
  if (!best_.has_value()) return true;
  const double gain =
      options_.larger_is_better.value_or(LargerIsBetter(name)) ? value - *best_ : *best_ - value;
  return gain > options_.min_delta;
}

bool EarlyStopping::Watch(const BatchEndParam& param) {
  const std::vector<NamedValue> values = param.eval_metric->GetGlobalNameValue();
  auto found = values.begin();
  if (!options_.metric.empty()) {
    found = std::find_if(values.begin(), values.end(), [this](const NamedValue& value) {
      return value.first == options_.metric;
    });
  }
  if (found == values.end()) {
    return StopWith(
        absl::NotFoundError(absl::StrCat("EarlyStopping: the metric has no value '",
                                         options_.metric, "', but", FormatValues(values))));
  }
  const auto& [name, value] = *found;
  if (IsBetter(value, name)) {
    best_ = value;
    best_epoch_ = param.epoch;
    worse_ = 0;
    if (!options_.restore_best) return true;
    absl::StatusOr<ModuleParams> params = param.module->GetParams();
    if (!params.ok()) return StopWith(params.status());
    params_ = *std::move(params);
    return true;
  }
  if (++worse_ < std::max(1, options_.patience)) return true;
  if (options_.log) {
    options_.log(absl::StrCat("EarlyStopping: ", name, " is ", value, " after epoch ", param.epoch,
                              ", no better than ", best_.has_value() ? absl::StrCat(*best_) : "NaN",
                              " after epoch ", best_epoch_));
  }
  const bool restores = options_.restore_best && best_.has_value();
  return StopWith(restores ? RestoreBest(*param.module) : absl::OkStatus());
}

absl::Status EarlyStopping::RestoreBest(BaseModule& module) const {
  COOPER_RETURN_IF_ERROR(status_);
  if (!best_.has_value() || !options_.restore_best) {
    return absl::FailedPreconditionError(absl::StrCat(
        "EarlyStopping: there are no best parameters to restore: ",
        options_.restore_best ? "no evaluation had a value" : "restore_best is false"));
  }
  // A bucket that was bound later may have brought parameters, which keep what they have.
  return module.SetParams(params_.args, params_.auxs, {.allow_missing = true});
}

}  // namespace cooper
