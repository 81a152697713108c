#include "module/optimizer/adam.h"

#include <cmath>
#include <string>
#include <vector>

#include "module/optimizer/element_update.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using internal_optimizer::As;
using internal_optimizer::Clip;
using internal_optimizer::UpdateElements;

class AdamOptimizer : public Optimizer {
 public:
  explicit AdamOptimizer(const AdamOptions& options)
      : Optimizer(options.common, 0.001),
        adam_(options),
        beta1_(static_cast<float>(options.beta1)),
        beta2_(static_cast<float>(options.beta2)) {}

  absl::string_view kind() const override { return "adam"; }
  std::vector<std::string> state_names() const override { return {"mean", "var"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    const auto t = static_cast<double>(step.t);
    const double lr =
        step.lr * std::sqrt(1 - std::pow(adam_.beta2, t)) / (1 - std::pow(adam_.beta1, t));
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), beta1 = As<C>(beta1_), beta2 = As<C>(beta2_),
              epsilon = As<C>(adam_.epsilon)](C& w, C grad, C& m, C& v) {
        const C g = Clip(rescale * grad + wd * w, clip);
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
        w -= lr * m / (std::sqrt(v) + epsilon);
      };
    });
  }

 private:
  const AdamOptions adam_;
  // MXNet's operator takes them as float32, which shows in 1 - beta2 when weights are float64. They
  // are members since g++ 12 optimises two conversions to float and back, side by side, away.
  const float beta1_, beta2_;
};

class AdamaxOptimizer : public Optimizer {
 public:
  explicit AdamaxOptimizer(const AdamaxOptions& options)
      : Optimizer(options.common, 0.002), adamax_(options) {}

  absl::string_view kind() const override { return "adamax"; }
  std::vector<std::string> state_names() const override { return {"mean", "var"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    const double lr = step.lr / (1 - std::pow(adamax_.beta1, static_cast<double>(step.t)));
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), beta1 = As<C>(adamax_.beta1),
              beta2 = As<C>(adamax_.beta2)](C& w, C grad, C& m, C& v) {
        const C g = Clip(rescale * grad + wd * w, clip);
        m = beta1 * m + (1 - beta1) * g;
        v = std::max(beta2 * v, std::abs(g));
        if (m != 0) w -= lr * m / v;  // v is 0 as long as all gradients were
      };
    });
  }

 private:
  const AdamaxOptions adamax_;
};

class NadamOptimizer : public Optimizer {
 public:
  explicit NadamOptimizer(const NadamOptions& options)
      : Optimizer(options.common, 0.001), nadam_(options) {}

  absl::string_view kind() const override { return "nadam"; }
  std::vector<std::string> state_names() const override { return {"mean", "var"}; }

 protected:
  absl::Status Apply(const Step& step, const Arrays& a) override {
    const double momentum = MomentumAt(step.t);
    const double next_momentum = MomentumAt(step.t + 1);
    schedule_ *= momentum;
    // w -= lr * ((1 - momentum) * g / (1 - schedule) + next * m / (1 - schedule * next)) / ...
    const double grad_factor = (1 - momentum) / (1 - schedule_);
    const double mean_factor = next_momentum / (1 - schedule_ * next_momentum);
    const double var_factor = 1 / (1 - std::pow(nadam_.beta2, static_cast<double>(step.t)));
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(step.lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), beta1 = As<C>(nadam_.beta1), beta2 = As<C>(nadam_.beta2),
              epsilon = As<C>(nadam_.epsilon), grad_factor = As<C>(grad_factor),
              mean_factor = As<C>(mean_factor),
              var_factor = As<C>(var_factor)](C& w, C grad, C& m, C& v) {
        const C g = Clip(rescale * grad + wd * w, clip);
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
        w -= lr * (grad_factor * g + mean_factor * m) / (std::sqrt(var_factor * v) + epsilon);
      };
    });
  }

  void Save(KeyValues* state) const override { state->SetDouble("schedule", schedule_); }
  absl::Status Load(const KeyValues& state) override {
    COOPER_ASSIGN_OR_RETURN(schedule_, state.GetDouble("schedule"));
    return absl::OkStatus();
  }

 private:
  double MomentumAt(int64_t t) const {
    return nadam_.beta1 *
           (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * nadam_.schedule_decay));
  }

  const NadamOptions nadam_;
  double schedule_ = 1;  // product of the momenta so far
};

class FtmlOptimizer : public Optimizer {
 public:
  explicit FtmlOptimizer(const FtmlOptions& options)
      : Optimizer(options.common, 0.01), ftml_(options) {}

  absl::string_view kind() const override { return "ftml"; }
  std::vector<std::string> state_names() const override { return {"d", "v", "z"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    const auto t = static_cast<double>(step.t);
    const double d_factor = (1 - std::pow(ftml_.beta1, t)) / step.lr;
    const double v_factor = 1 / (1 - std::pow(ftml_.beta2, t));
    return UpdateElements<3>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return
          [wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip),
           beta1 = As<C>(ftml_.beta1), beta2 = As<C>(ftml_.beta2), epsilon = As<C>(ftml_.epsilon),
           d_factor = As<C>(d_factor), v_factor = As<C>(v_factor)](C& w, C grad, C& d, C& v, C& z) {
            const C g = Clip(rescale * grad + wd * w, clip);
            v = beta2 * v + (1 - beta2) * g * g;
            const C next_d = d_factor * (std::sqrt(v_factor * v) + epsilon);
            z = beta1 * z + (1 - beta1) * g - (next_d - beta1 * d) * w;
            d = next_d;
            w = -z / d;
          };
    });
  }

 private:
  const FtmlOptions ftml_;
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

}  // namespace cooper
