#include "module/optimizer/layerwise.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "module/optimizer/element_update.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using internal_optimizer::As;
using internal_optimizer::Clip;
using internal_optimizer::SumElements;
using internal_optimizer::UpdateElements;

// The squares of the norms.
struct SquaredNorms {
  double weight = 0;
  double grad = 0;
};

absl::Status ComputeWeightNorm(const NDArray& weight, const NDArray& grad,
                               std::vector<double>* blocks, double* norm) {
  return SumElements<0>(
      weight, grad, {},
      [](auto tag) {
        using C = typename decltype(tag)::type;
        return [](C w, C) { return w * w; };
      },
      blocks, norm);
}

absl::Status ComputeNorms(const NDArray& weight, const NDArray& grad, std::vector<double>* blocks,
                          SquaredNorms* norms) {
  COOPER_RETURN_IF_ERROR(ComputeWeightNorm(weight, grad, blocks, &norms->weight));
  return SumElements<0>(
      weight, grad, {},
      [](auto tag) {
        using C = typename decltype(tag)::type;
        return [](C, C g) { return g * g; };
      },
      blocks, &norms->grad);
}

// m = momentum * m - lr * wd * w - lr * clip(rescale * grad);  w += m
struct SgdStep {
  double momentum;
  double lr;
  double wd;
  double rescale_grad;
  double clip;
};

template <typename C>
auto SgdUpdate(const SgdStep& s) {
  return [momentum = As<C>(s.momentum), decay = As<C>(s.lr * s.wd), lr = As<C>(s.lr),
          rescale = As<C>(s.rescale_grad), clip = As<C>(s.clip)](C w, C g, C m) {
    return momentum * m - decay * w - lr * Clip(rescale * g, clip);
  };
}

class LarsOptimizer : public Optimizer {
 public:
  explicit LarsOptimizer(const LarsOptions& options)
      : Optimizer(options.common, 0.01), lars_(options) {}

  absl::string_view kind() const override { return "lars"; }
  std::vector<std::string> state_names() const override {
    if (lars_.momentum == 0) return {};
    return {"momentum"};
  }

 protected:
  bool HasWeightDecay(absl::string_view name) const override {
    return !absl::EndsWith(name, "_gamma") && Optimizer::HasWeightDecay(name);
  }

  absl::Status Apply(const Step& step, const Arrays& a) override {
    SgdStep sgd = {.momentum = Momentum(),
                   .lr = step.lr,
                   .wd = step.wd,
                   .rescale_grad = step.rescale_grad,
                   .clip = step.clip};
    if (!absl::EndsWith(step.name, "gamma") && !absl::EndsWith(step.name, "beta") &&
        !absl::EndsWith(step.name, "bias")) {
      SquaredNorms norms;
      COOPER_RETURN_IF_ERROR(ComputeNorms(a.weight, a.grad, &blocks_, &norms));
      if (norms.weight > 0 && norms.grad > 0) {
        const double weight = std::sqrt(norms.weight);
        sgd.lr *= lars_.eta * weight /
                  (std::sqrt(norms.grad) * step.rescale_grad + step.wd * weight + lars_.eps);
      }
    }
    if (lars_.momentum == 0) {
      return UpdateElements<0>(step, a, [&](auto tag) {
        using C = typename decltype(tag)::type;
        return [update = SgdUpdate<C>(sgd)](C& w, C g) { w += update(w, g, C{0}); };
      });
    }
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [update = SgdUpdate<C>(sgd)](C& w, C g, C& m) {
        m = update(w, g, m);
        w += m;
      };
    });
  }

  void Save(KeyValues* state) const override {
    state->SetDouble("last_rate", last_rate_);
    state->SetDouble("rate", rate_);
    state->SetInt("rate_at", rate_at_);
  }
  absl::Status Load(const KeyValues& state) override {
    COOPER_ASSIGN_OR_RETURN(const double last_rate, state.GetDouble("last_rate"));
    COOPER_ASSIGN_OR_RETURN(const double rate, state.GetDouble("rate"));
    COOPER_ASSIGN_OR_RETURN(rate_at_, state.GetInt("rate_at"));
    last_rate_ = last_rate;
    rate_ = rate;
    return absl::OkStatus();
  }

 private:
  // The momentum of this step: corrected alike for all parameters that are updated in it.
  double Momentum() {
    const double rate = learning_rate();
    if (rate_at_ != num_update()) {
      last_rate_ = rate_at_ < 0 ? rate : rate_;
      rate_ = rate;
      rate_at_ = num_update();
    }
    const bool correct = lars_.momentum_correction && last_rate_ != 0;
    return correct ? lars_.momentum * (rate_ / last_rate_) : lars_.momentum;
  }

  const LarsOptions lars_;
  double last_rate_ = 0;
  double rate_ = 0;
  int64_t rate_at_ = -1;  // the update at which rate_ was taken
  std::vector<double> blocks_;
};

class LambOptimizer : public Optimizer {
 public:
  explicit LambOptimizer(const LambOptions& options)
      : Optimizer(options.common, 0.001), lamb_(options) {}

  absl::string_view kind() const override { return "lamb"; }
  std::vector<std::string> state_names() const override { return {"mean", "var"}; }

 protected:
  absl::Status Apply(const Step& step, const Arrays& a) override {
    COOPER_RETURN_IF_ERROR(UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip),
              beta1 = As<C>(lamb_.beta1), beta2 = As<C>(lamb_.beta2)](C&, C grad, C& m, C& v) {
        const C g = Clip(rescale * grad, clip);
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
      };
    }));

    // The direction, which both passes below compute rather than store.
    const auto t = static_cast<double>(step.t);
    const bool correct = lamb_.bias_correction;
    const double m_factor = correct ? 1 / (1 - std::pow(lamb_.beta1, t)) : 1;
    const double v_factor = correct ? 1 / (1 - std::pow(lamb_.beta2, t)) : 1;
    const auto direction = [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [wd = As<C>(step.wd), m_factor = As<C>(m_factor), v_factor = As<C>(v_factor),
              epsilon = As<C>(lamb_.epsilon)](C w, C m, C v) {
        return m_factor * m / (std::sqrt(v_factor * v) + epsilon) + wd * w;
      };
    };
    double weight_norm = 0;
    COOPER_RETURN_IF_ERROR(ComputeWeightNorm(a.weight, a.grad, &blocks_, &weight_norm));
    double direction_norm = 0;
    COOPER_RETURN_IF_ERROR(SumElements<2>(
        a.weight, a.grad, a.state,
        [&](auto tag) {
          using C = typename decltype(tag)::type;
          return [x = direction(tag)](C w, C, C m, C v) { return x(w, m, v) * x(w, m, v); };
        },
        &blocks_, &direction_norm));
    direction_norm = std::sqrt(direction_norm);
    weight_norm = std::sqrt(weight_norm);
    if (lamb_.lower_bound.value_or(0) > 0) weight_norm = std::max(weight_norm, *lamb_.lower_bound);
    if (lamb_.upper_bound.value_or(0) > 0) weight_norm = std::min(weight_norm, *lamb_.upper_bound);
    const bool scaled = weight_norm != 0 && direction_norm != 0;
    const double lr = scaled ? step.lr * weight_norm / direction_norm : step.lr;

    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [x = direction(tag), lr = As<C>(lr)](C& w, C, C& m, C& v) { w -= lr * x(w, m, v); };
    });
  }

 private:
  const LambOptions lamb_;
  std::vector<double> blocks_;
};

class LbsgdOptimizer : public Optimizer {
 public:
  explicit LbsgdOptimizer(const LbsgdOptions& options)
      : Optimizer(options.common, 0.01),
        lbsgd_(options),
        batch_scale_(std::max<int64_t>(options.batch_scale, 1)) {}

  absl::string_view kind() const override { return "lbsgd"; }
  std::vector<std::string> state_names() const override {
    if (batch_scale_ > 1) return {"momentum", "cum_grad"};
    return {"momentum"};
  }

 protected:
  bool lags_schedule() const override { return true; }

  absl::Status Apply(const Step& step, const Arrays& a) override {
    const int64_t num_grads =
        step.t - begin_num_update() + lbsgd_.begin_epoch * lbsgd_.updates_per_epoch;
    if (batch_scale_ == 1) return ApplySum(step, a, a.grad, num_grads);
    const NDArray& cum_grad = a.state[1];
    const Arrays sums = {
        .weight = a.weight, .grad = a.grad, .half_weight = {}, .state = a.state.subspan(1)};
    COOPER_RETURN_IF_ERROR(UpdateElements<1>(step, sums, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [](C&, C g, C& sum) { sum += g; };
    }));
    if (num_grads % batch_scale_ != 0) return absl::OkStatus();
    COOPER_RETURN_IF_ERROR(ApplySum(step, a, cum_grad, num_grads));
    return cum_grad.Fill(0);
  }

 private:
  // A step with the sum of batch_scale_ gradients.
  absl::Status ApplySum(const Step& step, const Arrays& a, const NDArray& sum, int64_t num_grads) {
    const double mean = 1 / static_cast<double>(batch_scale_);
    double factor = Warmup(num_grads);
    if (lbsgd_.warmup_strategy == LbsgdOptions::WarmupStrategy::kLars) {
      SquaredNorms norms;
      COOPER_RETURN_IF_ERROR(ComputeNorms(a.weight, sum, &blocks_, &norms));
      const double grad = norms.grad * mean * mean;
      factor = std::sqrt(norms.weight / (grad + step.wd * norms.weight + 1e-18));
      factor = std::min(std::max(factor, 0.01), 100.0);
    }
    const SgdStep sgd = {.momentum = lbsgd_.momentum,
                         .lr = step.lr * factor,
                         .wd = step.wd,
                         .rescale_grad = step.rescale_grad * mean,
                         .clip = step.clip};
    const Arrays arrays = {.weight = a.weight, .grad = sum, .half_weight = {}, .state = a.state};
    COOPER_RETURN_IF_ERROR(UpdateElements<1>(step, arrays, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [update = SgdUpdate<C>(sgd)](C& w, C g, C& m) {
        m = update(w, g, m);
        w += m;
      };
    }));
    // The gradient's sum is not in the half weight's dtype, so that the loop cannot write both.
    return a.half_weight.is_null() ? absl::OkStatus() : a.half_weight.CopyFrom(a.weight);
  }

  // What the rate is multiplied by after `n` gradients.
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
  std::vector<double> blocks_;
};

}  // namespace

std::unique_ptr<Optimizer> Lars(const LarsOptions& options) {
  return std::make_unique<LarsOptimizer>(options);
}

std::unique_ptr<Optimizer> Lamb(const LambOptions& options) {
  return std::make_unique<LambOptimizer>(options);
}

std::unique_ptr<Optimizer> Lbsgd(const LbsgdOptions& options) {
  return std::make_unique<LbsgdOptimizer>(options);
}

}  // namespace cooper
