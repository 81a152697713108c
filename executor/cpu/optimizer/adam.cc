// Kernels of Adam's update and its relatives'.

#include <algorithm>
#include <cmath>

#include "executor/cpu/optimizer/element_update.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {
namespace {

struct AdamUpdate {
  using Param = AdamParam;
  static constexpr int kStates = 2;
  template <typename C>
  static auto Make(const Param& p) {
    return [lr = As<C>(p.lr), wd = As<C>(p.wd), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient), beta1 = As<C>(p.beta1), beta2 = As<C>(p.beta2),
            epsilon = As<C>(p.epsilon)](C& w, C grad, C& m, C& v) {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * m / (std::sqrt(v) + epsilon);
    };
  }
};

struct AdamaxUpdate {
  using Param = AdamaxParam;
  static constexpr int kStates = 2;
  template <typename C>
  static auto Make(const Param& p) {
    return [lr = As<C>(p.lr), wd = As<C>(p.wd), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient), beta1 = As<C>(p.beta1),
            beta2 = As<C>(p.beta2)](C& w, C grad, C& m, C& v) {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = std::max(beta2 * v, std::abs(g));
      if (m != 0) w -= lr * m / v;  // v is 0 as long as all gradients were
    };
  }
};

struct NadamUpdate {
  using Param = NadamParam;
  static constexpr int kStates = 2;
  template <typename C>
  static auto Make(const Param& p) {
    return [lr = As<C>(p.lr), wd = As<C>(p.wd), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient), beta1 = As<C>(p.beta1), beta2 = As<C>(p.beta2),
            epsilon = As<C>(p.epsilon), grad_factor = As<C>(p.grad_factor),
            mean_factor = As<C>(p.mean_factor),
            var_factor = As<C>(p.var_factor)](C& w, C grad, C& m, C& v) {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * (grad_factor * g + mean_factor * m) / (std::sqrt(var_factor * v) + epsilon);
    };
  }
};

struct FtmlUpdate {
  using Param = FtmlParam;
  static constexpr int kStates = 3;
  template <typename C>
  static auto Make(const Param& p) {
    const auto t = static_cast<double>(p.t);
    const double d_factor = (1 - std::pow(p.beta1, t)) / p.lr;
    const double v_factor = 1 / (1 - std::pow(p.beta2, t));
    return
        [wd = As<C>(p.wd), rescale = As<C>(p.rescale_grad), clip = LimitAs<C>(p.clip_gradient),
         beta1 = As<C>(p.beta1), beta2 = As<C>(p.beta2), epsilon = As<C>(p.epsilon),
         d_factor = As<C>(d_factor), v_factor = As<C>(v_factor)](C& w, C grad, C& d, C& v, C& z) {
          const C g = Clip(rescale * grad + wd * w, clip);
          v = beta2 * v + (1 - beta2) * g * g;
          const C next_d = d_factor * (std::sqrt(v_factor * v) + epsilon);
          z = beta1 * z + (1 - beta1) * g - (next_d - beta1 * d) * w;
          d = next_d;
          w = -z / d;
        };
  }
};

COOPER_REGISTER_UPDATE(adam_update, mp_adam_update, AdamUpdate);
COOPER_REGISTER_UPDATE(_adamax_update, _mp_adamax_update, AdamaxUpdate);
COOPER_REGISTER_UPDATE(_nadam_update, _mp_nadam_update, NadamUpdate);
COOPER_REGISTER_UPDATE(ftml_update, mp_ftml_update, FtmlUpdate);

// rescale_grad, the last input, is on the device: it follows from all gradients, and is not finite
// where one of them is not.
template <bool kMaster>
absl::Status AdamWCpu(const KernelContext& c) {
  const auto& p = c.param<AdamWParam>();
  const double scale = *c.inputs.back().as<float>();
  const bool skip = !std::isfinite(scale) || scale == 0;
  const UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  return UpdateElements<2, kMaster>(c, a, [&](auto tag) {
    using C = typename decltype(tag)::type;
    return [skip, lr = As<C>(p.eta * p.lr), wd = As<C>(p.eta * p.wd), rescale = As<C>(scale),
            clip = LimitAs<C>(p.clip_gradient), beta1 = As<C>(p.beta1), beta2 = As<C>(p.beta2),
            epsilon = As<C>(p.epsilon)](C& w, C grad, C& m, C& v) {
      if (skip) return;
      const C g = Clip(rescale * grad, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * m / (std::sqrt(v) + epsilon) + wd * w;
    };
  });
}

COOPER_REGISTER_KERNEL(_adamw_update, DeviceType::kCpu, kUpdateDTypes, AdamWCpu<false>);
COOPER_REGISTER_KERNEL(_mp_adamw_update, DeviceType::kCpu, kUpdateDTypes, AdamWCpu<true>);

}  // namespace
}  // namespace cooper
