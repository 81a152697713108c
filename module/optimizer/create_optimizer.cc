#include "module/optimizer/create_optimizer.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/optimizer/adagrad.h"
#include "module/optimizer/adam.h"
#include "module/optimizer/layerwise.h"
#include "module/optimizer/sgd.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using Result = absl::StatusOr<std::unique_ptr<Optimizer>>;
using Factory = Result (*)(KwargReader& reader, const OptimizerOptions& common);

// MXNet's switch between dense and sparse updates; here all are dense.
void IgnoreLazyUpdate(KwargReader& reader) {
  bool lazy_update = true;
  reader.Read("lazy_update", &lazy_update);
}

Result MakeSgd(KwargReader& reader, const OptimizerOptions& common) {
  SgdOptions options = {.common = common};
  reader.Read("momentum", &options.momentum);
  IgnoreLazyUpdate(reader);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Sgd(options);
}

Result MakeNag(KwargReader& reader, const OptimizerOptions& common) {
  NagOptions options = {.common = common};
  reader.Read("momentum", &options.momentum);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Nag(options);
}

Result MakeSignum(KwargReader& reader, const OptimizerOptions& common) {
  SignumOptions options = {.common = common};
  reader.Read("momentum", &options.momentum);
  reader.Read("wd_lh", &options.wd_lh);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Signum(options);
}

Result MakeDcasgd(KwargReader& reader, const OptimizerOptions& common) {
  DcasgdOptions options = {.common = common};
  reader.Read("momentum", &options.momentum);
  reader.Read("lamda", &options.lamda);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Dcasgd(options);
}

Result MakeSgld(KwargReader& reader, const OptimizerOptions& common) {
  SgldOptions options = {.common = common};
  int64_t seed = 0;
  reader.Read("seed", &seed);
  options.seed = static_cast<uint64_t>(seed);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Sgld(options);
}

Result MakeAdam(KwargReader& reader, const OptimizerOptions& common) {
  AdamOptions options = {.common = common};
  reader.Read("beta1", &options.beta1);
  reader.Read("beta2", &options.beta2);
  reader.Read("epsilon", &options.epsilon);
  IgnoreLazyUpdate(reader);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Adam(options);
}

Result MakeAdamax(KwargReader& reader, const OptimizerOptions& common) {
  AdamaxOptions options = {.common = common};
  reader.Read("beta1", &options.beta1);
  reader.Read("beta2", &options.beta2);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Adamax(options);
}

Result MakeNadam(KwargReader& reader, const OptimizerOptions& common) {
  NadamOptions options = {.common = common};
  reader.Read("beta1", &options.beta1);
  reader.Read("beta2", &options.beta2);
  reader.Read("epsilon", &options.epsilon);
  reader.Read("schedule_decay", &options.schedule_decay);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Nadam(options);
}

Result MakeFtml(KwargReader& reader, const OptimizerOptions& common) {
  FtmlOptions options = {.common = common};
  reader.Read("beta1", &options.beta1);
  reader.Read("beta2", &options.beta2);
  reader.Read("epsilon", &options.epsilon);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Ftml(options);
}

Result MakeAdaGrad(KwargReader& reader, const OptimizerOptions& common) {
  AdaGradOptions options = {.common = common};
  reader.Read("eps", &options.eps);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return AdaGrad(options);
}

Result MakeRmsProp(KwargReader& reader, const OptimizerOptions& common) {
  RmsPropOptions options = {.common = common};
  reader.Read("gamma1", &options.gamma1);
  reader.Read("gamma2", &options.gamma2);
  reader.Read("epsilon", &options.epsilon);
  reader.Read("centered", &options.centered);
  reader.Read("clip_weights", &options.clip_weights);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return RmsProp(options);
}

Result MakeAdaDelta(KwargReader& reader, const OptimizerOptions& common) {
  AdaDeltaOptions options = {.common = common};
  reader.Read("rho", &options.rho);
  reader.Read("epsilon", &options.epsilon);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return AdaDelta(options);
}

Result MakeFtrl(KwargReader& reader, const OptimizerOptions& common) {
  FtrlOptions options = {.common = common};
  reader.Read("lamda1", &options.lamda1);
  reader.Read("beta", &options.beta);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Ftrl(options);
}

Result MakeLars(KwargReader& reader, const OptimizerOptions& common) {
  LarsOptions options = {.common = common};
  reader.Read("momentum", &options.momentum);
  reader.Read("eta", &options.eta);
  reader.Read("eps", &options.eps);
  reader.Read("momentum_correction", &options.momentum_correction);
  IgnoreLazyUpdate(reader);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Lars(options);
}

Result MakeLamb(KwargReader& reader, const OptimizerOptions& common) {
  LambOptions options = {.common = common};
  reader.Read("beta1", &options.beta1);
  reader.Read("beta2", &options.beta2);
  reader.Read("epsilon", &options.epsilon);
  reader.Read("lower_bound", &options.lower_bound);
  reader.Read("upper_bound", &options.upper_bound);
  reader.Read("bias_correction", &options.bias_correction);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Lamb(options);
}

Result MakeLbsgd(KwargReader& reader, const OptimizerOptions& common) {
  LbsgdOptions options = {.common = common};
  std::string strategy = "linear";
  int64_t num_epochs = 60;  // MXNet takes it and does not use it
  reader.Read("momentum", &options.momentum);
  reader.Read("warmup_strategy", &strategy);
  reader.Read("warmup_epochs", &options.warmup_epochs);
  reader.Read("batch_scale", &options.batch_scale);
  reader.Read("updates_per_epoch", &options.updates_per_epoch);
  reader.Read("begin_epoch", &options.begin_epoch);
  reader.Read("num_epochs", &num_epochs);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  using Strategy = LbsgdOptions::WarmupStrategy;
  const std::map<std::string, Strategy> strategies = {{"linear", Strategy::kLinear},
                                                      {"power2", Strategy::kPower2},
                                                      {"sqrt", Strategy::kSqrt},
                                                      {"lars", Strategy::kLars}};
  const auto it = strategies.find(strategy);
  if (it == strategies.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer lbsgd: warmup_strategy is '", strategy,
                     "', expected 'linear', 'power2', 'sqrt' or 'lars'"));
  }
  options.warmup_strategy = it->second;
  return Lbsgd(options);
}

const std::map<std::string, Factory>& Factories() {
  static const auto* const factories = new std::map<std::string, Factory>{
      {"adadelta", MakeAdaDelta}, {"adagrad", MakeAdaGrad}, {"adam", MakeAdam},
      {"adamax", MakeAdamax},     {"ccsgd", MakeSgd},       {"dcasgd", MakeDcasgd},
      {"ftml", MakeFtml},         {"ftrl", MakeFtrl},       {"lamb", MakeLamb},
      {"lars", MakeLars},         {"lbsgd", MakeLbsgd},     {"nadam", MakeNadam},
      {"nag", MakeNag},           {"rmsprop", MakeRmsProp}, {"sgd", MakeSgd},
      {"sgld", MakeSgld},         {"signum", MakeSignum},
  };
  return *factories;
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : Factories()) names.push_back(name);
  return names;
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs, std::shared_ptr<LRScheduler> lr_scheduler) {
  const auto it = Factories().find(absl::AsciiStrToLower(name));
  if (it == Factories().end()) {
    return absl::NotFoundError(absl::StrCat("no optimizer '", name, "', expected one of ",
                                            absl::StrJoin(OptimizerNames(), ", ")));
  }
  OptimizerOptions common;
  common.lr_scheduler = std::move(lr_scheduler);
  KwargReader reader(absl::StrCat("optimizer ", it->first), kwargs);
  reader.Read("learning_rate", &common.learning_rate);
  reader.Read("wd", &common.wd);
  reader.Read("rescale_grad", &common.rescale_grad);
  reader.Read("clip_gradient", &common.clip_gradient);
  reader.Read("begin_num_update", &common.begin_num_update);
  reader.Read("multi_precision", &common.multi_precision);
  return it->second(reader, common);
}

}  // namespace cooper
