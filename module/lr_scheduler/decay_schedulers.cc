#include "module/lr_scheduler/decay_schedulers.h"

#include <cmath>
#include <numbers>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "module/lr_scheduler/lr_scheduler_registry.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status CheckDecay(int64_t max_update, double final_lr, const LRSchedulerOptions& common) {
  COOPER_RETURN_IF_ERROR(CheckLRSchedulerOptions(common));
  COOPER_RETURN_IF_ERROR(CheckScheduledRate("final_lr", final_lr));
  if (max_update > common.warmup_steps) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("lr_scheduler: max_update is ", max_update,
                                                 ", expected more than warmup_steps, ",
                                                 common.warmup_steps));
}

// Returns the completed share of the decay, in [0, 1].
double Progress(int64_t num_update, int64_t max_update, const LRSchedulerOptions& common) {
  return static_cast<double>(num_update - common.warmup_steps) /
         static_cast<double>(max_update - common.warmup_steps);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LRScheduler>> PolyScheduler::Create(
    const PolySchedulerOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckDecay(options.max_update, options.final_lr, options.common));
  if (!(options.pwr >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("lr_scheduler poly: pwr is ", options.pwr, ", expected at least 0"));
  }
  return absl::WrapUnique<LRScheduler>(new PolyScheduler(options));
}

double PolyScheduler::AfterWarmup(int64_t num_update) {
  // As in MXNet, a jump past max_update keeps the last rate that was requested.
  if (num_update <= decay_options_.max_update) {
    const double x = Progress(num_update, decay_options_.max_update, options_);
    base_lr_ = decay_options_.final_lr +
               (options_.base_lr - decay_options_.final_lr) * std::pow(1 - x, decay_options_.pwr);
  }
  return base_lr_;
}

absl::StatusOr<std::unique_ptr<LRScheduler>> CosineScheduler::Create(
    const CosineSchedulerOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckDecay(options.max_update, options.final_lr, options.common));
  return absl::WrapUnique<LRScheduler>(new CosineScheduler(options));
}

double CosineScheduler::AfterWarmup(int64_t num_update) {
  if (num_update <= decay_options_.max_update) {
    const double x = Progress(num_update, decay_options_.max_update, options_);
    base_lr_ = decay_options_.final_lr + (options_.base_lr - decay_options_.final_lr) *
                                             (1 + std::cos(std::numbers::pi * x)) / 2;
  }
  return base_lr_;
}

namespace {

const bool kRegistered[] = {
    LRSchedulers().Add<PolySchedulerOptions>(
        {"poly"}, PolyScheduler::Create,
        [](auto& d) {
          using Options = PolySchedulerOptions;
          d.Field("max_update", &Options::max_update).Required();
          d.Field("pwr", &Options::pwr);
          d.Field("final_lr", &Options::final_lr);
          DeclareCommon(d);
        }),
    LRSchedulers().Add<CosineSchedulerOptions>(
        {"cosine"}, CosineScheduler::Create,
        [](auto& d) {
          using Options = CosineSchedulerOptions;
          d.Field("max_update", &Options::max_update).Required();
          d.Field("final_lr", &Options::final_lr);
          DeclareCommon(d);
        }),
};

}  // namespace
}  // namespace cooper
