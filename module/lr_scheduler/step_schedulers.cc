#include "module/lr_scheduler/step_schedulers.h"

#include <algorithm>
#include <cmath>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/lr_scheduler/lr_scheduler_registry.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status CheckFactor(double factor) {
  if (factor >= 0 && factor <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("lr_scheduler: factor is ", factor, ", expected a number in [0, 1]"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LRScheduler>> FactorScheduler::Create(
    const FactorSchedulerOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckLRSchedulerOptions(options.common));
  COOPER_RETURN_IF_ERROR(CheckFactor(options.factor));
  COOPER_RETURN_IF_ERROR(CheckScheduledRate("stop_factor_lr", options.stop_factor_lr));
  if (options.step < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler factor: step is ", options.step, ", expected at least 1"));
  }
  return absl::WrapUnique<LRScheduler>(new FactorScheduler(options));
}

double FactorScheduler::AfterWarmup(int64_t num_update) {
  // A saved count may be arbitrarily far behind. So many steps are taken at once; in training each
  // is taken on its own, with MXNet's rounding.
  constexpr int64_t kMany = 1 << 20;
  const int64_t step = step_options_.step;
  const int64_t steps = num_update > count_ ? (num_update - count_ - 1) / step : 0;
  count_ += steps * step;
  const double stop = step_options_.stop_factor_lr;
  if (steps > kMany) {
    base_lr_ =
        std::max(base_lr_ * std::pow(step_options_.factor, static_cast<double>(steps)), stop);
    return base_lr_;
  }
  for (int64_t i = 0; i < steps; ++i) base_lr_ = std::max(base_lr_ * step_options_.factor, stop);
  return base_lr_;
}

void FactorScheduler::Save(KeyValues* state) const { state->SetInt("count", count_); }

absl::Status FactorScheduler::Load(const KeyValues& state) {
  COOPER_ASSIGN_OR_RETURN(const int64_t count, state.GetInt("count"));
  if (count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler factor: state 'count' is ", count, ", expected at least 0"));
  }
  count_ = count;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LRScheduler>> MultiFactorScheduler::Create(
    const MultiFactorSchedulerOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckLRSchedulerOptions(options.common));
  COOPER_RETURN_IF_ERROR(CheckFactor(options.factor));
  const std::vector<int64_t>& step = options.step;
  if (step.empty() || step[0] < 1 ||
      std::adjacent_find(step.begin(), step.end(), std::greater_equal<int64_t>()) != step.end()) {
    return absl::InvalidArgumentError(absl::StrCat("lr_scheduler multifactor: step is (",
                                                   absl::StrJoin(step, ", "),
                                                   "), expected rising numbers from 1 on"));
  }
  return absl::WrapUnique<LRScheduler>(new MultiFactorScheduler(options));
}

double MultiFactorScheduler::AfterWarmup(int64_t num_update) {
  const std::vector<int64_t>& step = step_options_.step;
  while (next_step_ < static_cast<int64_t>(step.size()) && num_update > step[next_step_]) {
    ++next_step_;
    base_lr_ *= step_options_.factor;
  }
  return base_lr_;
}

void MultiFactorScheduler::Save(KeyValues* state) const { state->SetInt("next_step", next_step_); }

absl::Status MultiFactorScheduler::Load(const KeyValues& state) {
  COOPER_ASSIGN_OR_RETURN(const int64_t next_step, state.GetInt("next_step"));
  if (next_step < 0 || next_step > static_cast<int64_t>(step_options_.step.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler multifactor: state 'next_step' is ", next_step, " of ",
                     step_options_.step.size()));
  }
  next_step_ = next_step;
  return absl::OkStatus();
}

namespace {

const bool kRegistered[] = {
    LRSchedulers().Add<FactorSchedulerOptions>({"factor"}, FactorScheduler::Create,
                                               [](auto& d) {
                                                 using Options = FactorSchedulerOptions;
                                                 d.Field("step", &Options::step).Required();
                                                 d.Field("factor", &Options::factor);
                                                 d.Field("stop_factor_lr",
                                                         &Options::stop_factor_lr);
                                                 DeclareCommon(d);
                                               }),
    LRSchedulers().Add<MultiFactorSchedulerOptions>({"multifactor"}, MultiFactorScheduler::Create,
                                                    [](auto& d) {
                                                      using Options = MultiFactorSchedulerOptions;
                                                      d.Field("step", &Options::step).Required();
                                                      d.Field("factor", &Options::factor);
                                                      DeclareCommon(d);
                                                    }),
};

}  // namespace
}  // namespace cooper
