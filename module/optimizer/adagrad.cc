#include "module/optimizer/adagrad.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "module/optimizer/element_update.h"

namespace cooper {
namespace {

using internal_optimizer::As;
using internal_optimizer::Clip;
using internal_optimizer::UpdateElements;

class AdaGradOptimizer : public Optimizer {
 public:
  explicit AdaGradOptimizer(const AdaGradOptions& options)
      : Optimizer(options.common, 0.01), eps_(options.eps) {}

  absl::string_view kind() const override { return "adagrad"; }
  std::vector<std::string> state_names() const override { return {"history"}; }

 protected:
  bool IsElementWise() const override { return true; }
  // Without eps, in float32 too, nothing divided by nothing.
  absl::Status Apply(const Step& step, const Arrays& a) override {
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(step.lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), eps = As<C>(eps_)](C& w, C grad, C& history) {
        const C g = Clip(rescale * grad, clip);
        history += g * g;
        w -= lr * (g / std::sqrt(history + eps) + wd * w);
      };
    });
  }

 private:
  const double eps_;
};

class RmsPropOptimizer : public Optimizer {
 public:
  explicit RmsPropOptimizer(const RmsPropOptions& options)
      : Optimizer(options.common, 0.001),
        rmsprop_(options),
        clip_weights_(options.clip_weights.value_or(0) > 0
                          ? *options.clip_weights
                          : std::numeric_limits<double>::infinity()) {}

  absl::string_view kind() const override { return "rmsprop"; }
  std::vector<std::string> state_names() const override {
    if (rmsprop_.centered) return {"n", "g", "delta"};
    return {"n"};
  }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    if (rmsprop_.centered) return ApplyCentered(step, a);
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(step.lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), gamma1 = As<C>(rmsprop_.gamma1),
              epsilon = As<C>(rmsprop_.epsilon),
              clip_weights = As<C>(clip_weights_)](C& w, C grad, C& n) {
        const C g = Clip(rescale * grad + wd * w, clip);
        n = (1 - gamma1) * (g * g) + gamma1 * n;
        w = Clip(w - lr * (g / std::sqrt(n + epsilon)), clip_weights);
      };
    });
  }

 private:
  absl::Status ApplyCentered(const Step& step, const Arrays& a) {
    return UpdateElements<3>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(step.lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), gamma1 = As<C>(rmsprop_.gamma1),
              gamma2 = As<C>(rmsprop_.gamma2), epsilon = As<C>(rmsprop_.epsilon),
              clip_weights = As<C>(clip_weights_)](C& w, C grad, C& n, C& mean, C& delta) {
        const C g = Clip(rescale * grad + wd * w, clip);
        n = (1 - gamma1) * g * g + gamma1 * n;
        mean = (1 - gamma1) * g + gamma1 * mean;
        delta = gamma2 * delta - lr * g / std::sqrt(n - mean * mean + epsilon);
        w = Clip(w + delta, clip_weights);
      };
    });
  }

  const RmsPropOptions rmsprop_;
  const double clip_weights_;
};

class AdaDeltaOptimizer : public Optimizer {
 public:
  explicit AdaDeltaOptimizer(const AdaDeltaOptions& options)
      : Optimizer(options.common, 0.01), adadelta_(options) {}

  absl::string_view kind() const override { return "adadelta"; }
  std::vector<std::string> state_names() const override { return {"acc_grad", "acc_delta"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip),
              rho = As<C>(adadelta_.rho),
              epsilon = As<C>(adadelta_.epsilon)](C& w, C grad, C& acc_grad, C& acc_delta) {
        const C g = Clip(rescale * grad, clip);
        acc_grad = rho * acc_grad + (1 - rho) * g * g;
        const C delta = std::sqrt(acc_delta + epsilon) / std::sqrt(acc_grad + epsilon) * g;
        acc_delta = rho * acc_delta + (1 - rho) * delta * delta;
        w -= delta + wd * w;
      };
    });
  }

 private:
  const AdaDeltaOptions adadelta_;
};

class FtrlOptimizer : public Optimizer {
 public:
  explicit FtrlOptimizer(const FtrlOptions& options)
      : Optimizer(options.common, 0.1), ftrl_(options) {}

  absl::string_view kind() const override { return "ftrl"; }
  std::vector<std::string> state_names() const override { return {"z", "n"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [lr = As<C>(step.lr), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip), lamda1 = As<C>(ftrl_.lamda1),
              beta = As<C>(ftrl_.beta)](C& w, C grad, C& z, C& n) {
        const C g = Clip(rescale * grad, clip);
        z += g - (std::sqrt(n + g * g) - std::sqrt(n)) * w / lr;
        n += g * g;
        const C shrunk = z > 0 ? lamda1 - z : -lamda1 - z;
        w = std::abs(z) > lamda1 ? shrunk / ((beta + std::sqrt(n)) / lr + wd) : C{0};
      };
    });
  }

 private:
  const FtrlOptions ftrl_;
};

}  // namespace

std::unique_ptr<Optimizer> AdaGrad(const AdaGradOptions& options) {
  return std::make_unique<AdaGradOptimizer>(options);
}

std::unique_ptr<Optimizer> RmsProp(const RmsPropOptions& options) {
  return std::make_unique<RmsPropOptimizer>(options);
}

std::unique_ptr<Optimizer> AdaDelta(const AdaDeltaOptions& options) {
  return std::make_unique<AdaDeltaOptimizer>(options);
}

std::unique_ptr<Optimizer> Ftrl(const FtrlOptions& options) {
  return std::make_unique<FtrlOptimizer>(options);
}

}  // namespace cooper
