#include "module/optimizer/adam.h"

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "module/optimizer/optimizer_registry.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {
namespace {

// Builds the operator's parameters from options that have these members.
template <typename P, typename Options>
P MomentParam(const Options& options) {
  P param;
  param.beta1 = static_cast<decltype(param.beta1)>(options.beta1);
  param.beta2 = static_cast<decltype(param.beta2)>(options.beta2);
  if constexpr (requires { options.epsilon; }) param.epsilon = options.epsilon;
  return param;
}

// Declares these options.
template <typename Options>
void DeclareMoments(ParamDeclaration<Options>& d) {
  d.Field("beta1", &Options::beta1);
  d.Field("beta2", &Options::beta2);
  if constexpr (requires { &Options::epsilon; }) d.Field("epsilon", &Options::epsilon);
}

class AdamOptimizer : public OptimizerWith<AdamParam> {
 public:
  explicit AdamOptimizer(const AdamOptions& options)
      : OptimizerWith(options.common, {"adam", "adam_update", {"mean", "var"}, 0.001},
                      MomentParam<AdamParam>(options)),
        beta1_(options.beta1),
        beta2_(options.beta2) {}

 protected:
  void Set(const Step& step, AdamParam* param) override {
    const auto t = static_cast<double>(step.t);
    param->lr = param->lr * std::sqrt(1 - std::pow(beta2_, t)) / (1 - std::pow(beta1_, t));
  }

 private:
  const double beta1_, beta2_;
};

class AdamaxOptimizer : public OptimizerWith<AdamaxParam> {
 public:
  explicit AdamaxOptimizer(const AdamaxOptions& options)
      : OptimizerWith(options.common, {"adamax", "_adamax_update", {"mean", "var"}, 0.002},
                      MomentParam<AdamaxParam>(options)) {}

 protected:
  void Set(const Step& step, AdamaxParam* param) override {
    param->lr = param->lr / (1 - std::pow(param->beta1, static_cast<double>(step.t)));
  }
};

class NadamOptimizer : public OptimizerWith<NadamParam> {
 public:
  explicit NadamOptimizer(const NadamOptions& options)
      : OptimizerWith(options.common, {"nadam", "_nadam_update", {"mean", "var"}, 0.001},
                      MomentParam<NadamParam>(options)),
        schedule_decay_(options.schedule_decay) {}

 protected:
  void Set(const Step& step, NadamParam* param) override {
    const double momentum = MomentumAt(step.t);
    const double next_momentum = MomentumAt(step.t + 1);
    schedule_ *= momentum;
    // w -= lr * ((1 - momentum) * g / (1 - schedule) + next * m / (1 - schedule * next)) / ...
    param->grad_factor = (1 - momentum) / (1 - schedule_);
    param->mean_factor = next_momentum / (1 - schedule_ * next_momentum);
    param->var_factor = 1 / (1 - std::pow(param->beta2, static_cast<double>(step.t)));
  }

  void Save(KeyValues* state) const override { state->SetDouble("schedule", schedule_); }
  absl::Status Load(const KeyValues& state) override {
    COOPER_ASSIGN_OR_RETURN(const double schedule, state.GetDouble("schedule"));
    if (!(schedule >= 0 && schedule <= 1)) {  // written so that NaN is refused
      return absl::InvalidArgumentError(
          absl::StrCat("optimizer nadam: state 'schedule' is ", schedule,
                       ", expected a product of momenta, from 0 to 1"));
    }
    schedule_ = schedule;
    return absl::OkStatus();
  }
  void KeepShared() override { schedule_before_ = schedule_; }
  void RestoreShared() override { schedule_ = schedule_before_; }

 private:
  double MomentumAt(int64_t t) const {
    return param().beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * schedule_decay_));
  }

  const double schedule_decay_;
  double schedule_ = 1;  // product of the momenta so far
  double schedule_before_ = 1;
};

class FtmlOptimizer : public OptimizerWith<FtmlParam> {
 public:
  explicit FtmlOptimizer(const FtmlOptions& options)
      : OptimizerWith(options.common, {"ftml", "ftml_update", {"d", "v", "z"}, 0.01},
                      MomentParam<FtmlParam>(options)) {}

 protected:
  void Set(const Step& step, FtmlParam* param) override { param->t = step.t; }
};

}  // namespace

std::unique_ptr<Optimizer> Adam(const AdamOptions& options) {
  return std::make_unique<AdamOptimizer>(options);
}

std::unique_ptr<Optimizer> Adamax(const AdamaxOptions& options) {
  return std::make_unique<AdamaxOptimizer>(options);
}

std::unique_ptr<Optimizer> Nadam(const NadamOptions& options) {
  return std::make_unique<NadamOptimizer>(options);
}

std::unique_ptr<Optimizer> Ftml(const FtmlOptions& options) {
  return std::make_unique<FtmlOptimizer>(options);
}

namespace {

const bool kRegistered[] = {
    RegisterOptimizer({"adam"}, Adam,
                      [](auto& d) {
                        DeclareMoments(d);
                        d.template Ignored<bool>(kLazyUpdate);
                      }),
    RegisterOptimizer({"adamax"}, Adamax, DeclareMoments<AdamaxOptions>),
    RegisterOptimizer({"nadam"}, Nadam,
                      [](auto& d) {
                        // Limits the momenta to [0, 1], the range that a saved state must have.
                        d.Field("beta1", &NadamOptions::beta1).Min(0).Max(1);
                        d.Field("beta2", &NadamOptions::beta2);
                        d.Field("epsilon", &NadamOptions::epsilon);
                        d.Field("schedule_decay", &NadamOptions::schedule_decay).Min(0);
                      }),
    RegisterOptimizer({"ftml"}, Ftml, DeclareMoments<FtmlOptions>),
};

}  // namespace
}  // namespace cooper
