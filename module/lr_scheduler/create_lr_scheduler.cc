#include "module/lr_scheduler/create_lr_scheduler.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "module/lr_scheduler/decay_schedulers.h"
#include "module/lr_scheduler/step_schedulers.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status Finish(KwargReader& reader, LRSchedulerOptions* common) {
  std::string warmup_mode = "linear";
  reader.Read("base_lr", &common->base_lr);
  reader.Read("warmup_steps", &common->warmup_steps);
  reader.Read("warmup_begin_lr", &common->warmup_begin_lr);
  reader.Read("warmup_mode", &warmup_mode);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  if (warmup_mode != "linear" && warmup_mode != "constant") {
    return absl::InvalidArgumentError(absl::StrCat("lr_scheduler: warmup_mode is '", warmup_mode,
                                                   "', expected 'linear' or 'constant'"));
  }
  common->warmup_mode = warmup_mode == "linear" ? WarmupMode::kLinear : WarmupMode::kConstant;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LRScheduler>> CreateLRScheduler(absl::string_view kind,
                                                               const Kwargs& kwargs) {
  const std::string lower = absl::AsciiStrToLower(kind);
  const absl::string_view name = absl::StripSuffix(lower, "scheduler");
  KwargReader reader(absl::StrCat("lr_scheduler ", name), kwargs);
  if (name == "factor") {
    FactorSchedulerOptions options;
    reader.Require("step");
    reader.Read("step", &options.step);
    reader.Read("factor", &options.factor);
    reader.Read("stop_factor_lr", &options.stop_factor_lr);
    COOPER_RETURN_IF_ERROR(Finish(reader, &options.common));
    return FactorScheduler::Create(options);
  }
  if (name == "multifactor") {
    MultiFactorSchedulerOptions options;
    reader.Require("step");
    reader.Read("step", &options.step);
    reader.Read("factor", &options.factor);
    COOPER_RETURN_IF_ERROR(Finish(reader, &options.common));
    return MultiFactorScheduler::Create(options);
  }
  if (name == "poly") {
    PolySchedulerOptions options;
    reader.Require("max_update");
    reader.Read("max_update", &options.max_update);
    reader.Read("pwr", &options.pwr);
    reader.Read("final_lr", &options.final_lr);
    COOPER_RETURN_IF_ERROR(Finish(reader, &options.common));
    return PolyScheduler::Create(options);
  }
  if (name == "cosine") {
    CosineSchedulerOptions options;
    reader.Require("max_update");
    reader.Read("max_update", &options.max_update);
    reader.Read("final_lr", &options.final_lr);
    COOPER_RETURN_IF_ERROR(Finish(reader, &options.common));
    return CosineScheduler::Create(options);
  }
  return absl::NotFoundError(
      absl::StrCat("no lr_scheduler '", kind, "', expected factor, multifactor, poly or cosine"));
}

}  // namespace cooper
