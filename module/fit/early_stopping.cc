#include "module/fit/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "module/interface/base_module.h"
#include "module/metric/watched_value.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Names of the arrays of a state.
constexpr char kCounts[] = "counts";  // best epoch, evaluations since, whether it has stopped
constexpr char kBest[] = "best";
constexpr char kArg[] = "arg:";
constexpr char kAux[] = "aux:";

}  // namespace

BatchEndCallback EarlyStopping::AtEvalEnd() {
  return [this](const BatchEndParam& param) { return Watch(param); };
}

bool EarlyStopping::IsBetter(double value, const std::string& name) const {
  if (std::isnan(value)) return false;
  if (!best_.has_value()) return true;
  const double gain =
      options_.larger_is_better.value_or(LargerIsBetter(name)) ? value - *best_ : *best_ - value;
  return gain > options_.min_delta;
}

absl::StatusOr<bool> EarlyStopping::Watch(const BatchEndParam& param) {
  COOPER_ASSIGN_OR_RETURN(
      const NamedValue watched,
      AddContext(FindValue(*param.eval_metric, options_.metric), "EarlyStopping"));
  const auto& [name, value] = watched;
  if (IsBetter(value, name)) {
    if (options_.restore_best) {
      COOPER_ASSIGN_OR_RETURN(params_, param.module->GetParams());
    }
    best_ = value;
    best_epoch_ = param.epoch;
    worse_ = 0;
    return true;
  }
  if (++worse_ < std::max(1, options_.patience)) return true;
  stopped_ = true;
  if (options_.log) {
    options_.log(absl::StrCat("EarlyStopping: ", name, " is ", value, " after epoch ", param.epoch,
                              ", no better than ", best_.has_value() ? absl::StrCat(*best_) : "NaN",
                              " after epoch ", best_epoch_));
  }
  if (options_.restore_best && best_.has_value()) {
    COOPER_RETURN_IF_ERROR(RestoreBest(*param.module));
  }
  return false;
}

absl::Status EarlyStopping::RestoreBest(BaseModule& module) const {
  if (!best_.has_value() || !options_.restore_best) {
    return absl::FailedPreconditionError(absl::StrCat(
        "EarlyStopping: there are no best parameters to restore: ",
        options_.restore_best ? "no evaluation had a value" : "restore_best is false"));
  }
  // Parameters that a bucket has added since the best evaluation keep their values.
  return module.SetParams(params_.args, params_.auxs, {.allow_missing = true});
}

absl::StatusOr<ArrayMap> EarlyStopping::SaveState() const {
  ArrayMap state;
  COOPER_ASSIGN_OR_RETURN(state[kCounts],
                          NDArray::FromVector<int64_t>({3}, {best_epoch_, worse_, stopped_}));
  if (best_.has_value()) {
    COOPER_ASSIGN_OR_RETURN(state[kBest], NDArray::FromVector<double>({1}, {*best_}));
  }
  for (const auto& [name, array] : params_.args) state[absl::StrCat(kArg, name)] = array;
  for (const auto& [name, array] : params_.auxs) state[absl::StrCat(kAux, name)] = array;
  return state;
}

absl::Status EarlyStopping::LoadState(const ArrayMap& state) {
  std::optional<double> best;
  std::vector<int64_t> counts;
  ModuleParams params;
  for (const auto& [key, array] : state) {
    absl::string_view name = key;
    if (key == kCounts) {
      COOPER_ASSIGN_OR_RETURN(counts, AddContext(array.ToVector<int64_t>(), kCounts));
    } else if (key == kBest) {
      COOPER_ASSIGN_OR_RETURN(const auto value, AddContext(array.ToVector<double>(), kBest));
      if (value.size() != 1) return absl::InvalidArgumentError("'best' is not one number");
      best = value[0];
    } else if (absl::ConsumePrefix(&name, kArg)) {
      params.args[std::string(name)] = array;
    } else if (absl::ConsumePrefix(&name, kAux)) {
      params.auxs[std::string(name)] = array;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown array '", key, "'"));
    }
  }
  if (counts.size() != 3) return absl::InvalidArgumentError("'counts' is not three numbers");
  if (best.has_value() && options_.restore_best && params.args.empty()) {
    return absl::InvalidArgumentError(
        "the best parameters are missing: the state is of a run without restore_best");
  }
  best_ = best;
  best_epoch_ = static_cast<int>(counts[0]);
  worse_ = static_cast<int>(counts[1]);
  stopped_ = counts[2] != 0;
  params_ = std::move(params);
  return absl::OkStatus();
}

}  // namespace cooper
