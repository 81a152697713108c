#include "module/optimizer/layerwise.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "module/optimizer/optimizer_registry.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/layerwise_param.h"

namespace cooper {
namespace {

class LarsOptimizer : public OptimizerWith<LarsParam> {
 public:
  LarsOptimizer(const LarsOptions& options, Kind kind, const LarsParam& param)
      : OptimizerWith(options.common, std::move(kind), param), lars_(options) {}

 protected:
  bool HasWeightDecay(absl::string_view name) const override {
    return !absl::EndsWith(name, "_gamma") && Optimizer::HasWeightDecay(name);
  }

  void Set(const Step& step, LarsParam* param) override {
    param->momentum = Momentum();
    param->layerwise = !absl::EndsWith(step.name, "gamma") && !absl::EndsWith(step.name, "beta") &&
                       !absl::EndsWith(step.name, "bias");
  }

  void Save(KeyValues* state) const override {
    state->SetDouble("last_rate", rates_.last);
    state->SetDouble("rate", rates_.now);
    state->SetInt("rate_at", rates_.at);
  }
  absl::Status Load(const KeyValues& state) override {
    Rates rates;
    COOPER_ASSIGN_OR_RETURN(rates.last, state.GetDouble("last_rate"));
    COOPER_ASSIGN_OR_RETURN(rates.now, state.GetDouble("rate"));
    COOPER_ASSIGN_OR_RETURN(rates.at, state.GetInt("rate_at"));
    rates_ = rates;
    return absl::OkStatus();
  }
  void KeepShared() override { rates_before_ = rates_; }
  void RestoreShared() override { rates_ = rates_before_; }

 private:
  struct Rates {
    double last = 0;
    double now = 0;
    int64_t at = -1;  // the update in which `now` was read
  };

  // Returns the momentum of this step, with the same correction for all its parameters.
  double Momentum() {
    const double rate = learning_rate();
    if (rates_.at != num_update()) {
      rates_ = {.last = rates_.at < 0 ? rate : rates_.now, .now = rate, .at = num_update()};
    }
    const bool correct = lars_.momentum_correction && rates_.last != 0;
    return correct ? lars_.momentum * (rates_.now / rates_.last) : lars_.momentum;
  }

  const LarsOptions lars_;
  Rates rates_, rates_before_;
};

class LambOptimizer : public OptimizerWith<LambParam> {
 public:
  using OptimizerWith::OptimizerWith;

 protected:
  void Set(const Step& step, LambParam* param) override { param->t = step.t; }
};

class LbsgdOptimizer : public OptimizerWith<LbsgdParam> {
 public:
  LbsgdOptimizer(const LbsgdOptions& options, Kind kind, const LbsgdParam& param)
      : OptimizerWith(options.common, std::move(kind), param),
        lbsgd_(options),
        batch_scale_(param.batch_scale) {}

 protected:
  bool lags_schedule() const override { return true; }

  void Set(const Step& step, LbsgdParam* param) override {
    const int64_t num_grads =
        step.t - begin_num_update() + lbsgd_.begin_epoch * lbsgd_.updates_per_epoch;
    param->apply = num_grads % batch_scale_ == 0;
    if (!param->adaptive) param->lr *= Warmup(num_grads);
  }

 private:
  // Returns the factor of the rate after `n` gradients.
  double Warmup(int64_t n) const {
    const int64_t warmup = lbsgd_.warmup_epochs * lbsgd_.updates_per_epoch;
    const auto scale = static_cast<double>(batch_scale_);
    if (n >= warmup) return scale;
    if (warmup <= 1) return 1;
    const double x = static_cast<double>(n) / static_cast<double>(warmup);
    switch (lbsgd_.warmup_strategy) {
      case LbsgdOptions::WarmupStrategy::kLinear:
        return 1 + (scale - 1) * x;
      case LbsgdOptions::WarmupStrategy::kPower2:
        return 1 + (scale - 1) * x * x;
      case LbsgdOptions::WarmupStrategy::kSqrt:
        return 1 + (scale - 1) * std::sqrt(x);
      case LbsgdOptions::WarmupStrategy::kLars:
        break;
    }
    return 1;
  }

  const LbsgdOptions lbsgd_;
  const int64_t batch_scale_;
};

}  // namespace

std::unique_ptr<Optimizer> Lars(const LarsOptions& options) {
  LarsParam param;
  param.eta = options.eta;
  param.epsilon = options.eps;
  Optimizer::Kind kind = {"lars", "_lars_update", {}, 0.01};
  if (options.momentum != 0) kind = {"lars", "_lars_mom_update", {"momentum"}, 0.01};
  return std::make_unique<LarsOptimizer>(options, std::move(kind), param);
}

std::unique_ptr<Optimizer> Lamb(const LambOptions& options) {
  LambParam param;
  param.beta1 = options.beta1;
  param.beta2 = options.beta2;
  param.epsilon = options.epsilon;
  param.bias_correction = options.bias_correction;
  if (options.lower_bound.value_or(0) > 0) param.lower_bound = *options.lower_bound;
  if (options.upper_bound.value_or(0) > 0) param.upper_bound = *options.upper_bound;
  return std::make_unique<LambOptimizer>(
      options.common, Optimizer::Kind{"lamb", "_lamb_update", {"mean", "var"}, 0.001}, param);
}

std::unique_ptr<Optimizer> Lbsgd(const LbsgdOptions& options) {
  LbsgdParam param;
  param.momentum = options.momentum;
  param.batch_scale = std::max<int64_t>(options.batch_scale, 1);
  param.adaptive = options.warmup_strategy == LbsgdOptions::WarmupStrategy::kLars;
  Optimizer::Kind kind = {"lbsgd", "_lbsgd_update", {"momentum"}, 0.01};
  if (param.batch_scale > 1) {
    kind = {"lbsgd", "_lbsgd_sum_update", {"momentum", "cum_grad"}, 0.01};
  }
  return std::make_unique<LbsgdOptimizer>(options, std::move(kind), param);
}

namespace {

const bool kRegistered[] = {
    RegisterOptimizer({"lars"}, Lars,
                      [](auto& d) {
                        d.Field("momentum", &LarsOptions::momentum);
                        d.Field("eta", &LarsOptions::eta);
                        d.Field("eps", &LarsOptions::eps);
                        d.Field("momentum_correction", &LarsOptions::momentum_correction);
                        d.template Ignored<bool>(kLazyUpdate);
                      }),
    RegisterOptimizer({"lamb"}, Lamb,
                      [](auto& d) {
                        d.Field("beta1", &LambOptions::beta1);
                        d.Field("beta2", &LambOptions::beta2);
                        d.Field("epsilon", &LambOptions::epsilon);
                        d.Field("lower_bound", &LambOptions::lower_bound);
                        d.Field("upper_bound", &LambOptions::upper_bound);
                        d.Field("bias_correction", &LambOptions::bias_correction);
                      }),
    RegisterOptimizer(
        {"lbsgd"}, Lbsgd,
        [](auto& d) {
          d.Field("momentum", &LbsgdOptions::momentum);
          d.Enum("warmup_strategy", &LbsgdOptions::warmup_strategy,
                 {{"linear", LbsgdOptions::WarmupStrategy::kLinear},
                  {"power2", LbsgdOptions::WarmupStrategy::kPower2},
                  {"sqrt", LbsgdOptions::WarmupStrategy::kSqrt},
                  {"lars", LbsgdOptions::WarmupStrategy::kLars}});
          // Products of epochs and updates must not overflow.
          constexpr double kMost = 0x1p26;
          d.Field("warmup_epochs", &LbsgdOptions::warmup_epochs).Min(0).Max(kMost);
          d.Field("batch_scale", &LbsgdOptions::batch_scale);
          d.Field("updates_per_epoch", &LbsgdOptions::updates_per_epoch).Min(0).Max(kMost);
          d.Field("begin_epoch", &LbsgdOptions::begin_epoch).Min(0).Max(kMost);
          d.template Ignored<int64_t>("num_epochs");  // in MXNet too
        }),
};

}  // namespace
}  // namespace cooper
