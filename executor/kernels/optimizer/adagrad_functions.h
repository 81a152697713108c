#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAGRAD_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAGRAD_FUNCTIONS_H_

// Updates of one element that divide the gradient by the root of its accumulated squares.
// update_function.h describes the structs.

#include <algorithm>
#include <cmath>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/optimizer/adagrad_param.h"

namespace cooper {

// AdaGrad. With epsilon 0 a gradient of 0 on a history of 0 gives NaN.
struct AdaGradUpdate {
  using Param = AdaGradParam;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    C lr, wd, rescale, clip, epsilon;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& history) const {
      const C g = Clip(rescale * grad, clip);
      history += g * g;
      w -= lr * (g / std::sqrt(history + epsilon) + wd * w);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .epsilon = As<C>(p.epsilon)};
  }
};

// RMSProp after Tieleman and Hinton: divides by the root of a moving mean of squares.
struct RmsPropUpdate {
  using Param = RmsPropParam;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    C lr, wd, rescale, clip, gamma1, epsilon, clip_weights;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& n) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      n = (1 - gamma1) * (g * g) + gamma1 * n;
      w = Clip(w - lr * (g / std::sqrt(n + epsilon)), clip_weights);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .gamma1 = As<C>(p.gamma1),
            .epsilon = As<C>(p.epsilon),
            .clip_weights = LimitAs<C>(p.clip_weights)};
  }
};

// RMSProp after Graves: subtracts the square of a moving mean and has a momentum.
struct RmsPropAlexUpdate {
  using Param = RmsPropAlexParam;
  static constexpr int kStates = 3;
  template <typename C>
  struct Fn {
    C lr, wd, rescale, clip, gamma1, gamma2, epsilon, clip_weights;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& n, C& mean, C& delta) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      n = (1 - gamma1) * g * g + gamma1 * n;
      mean = (1 - gamma1) * g + gamma1 * mean;
      delta = gamma2 * delta - lr * g / std::sqrt(n - mean * mean + epsilon);
      w = Clip(w + delta, clip_weights);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .gamma1 = As<C>(p.gamma1),
            .gamma2 = As<C>(p.gamma2),
            .epsilon = As<C>(p.epsilon),
            .clip_weights = LimitAs<C>(p.clip_weights)};
  }
};

// AdaDelta, which has no learning rate.
struct AdaDeltaUpdate {
  using Param = AdaDeltaParam;
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    C wd, rescale, clip, rho, epsilon;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& acc_grad, C& acc_delta) const {
      const C g = Clip(rescale * grad, clip);
      acc_grad = rho * acc_grad + (1 - rho) * g * g;
      const C delta = std::sqrt(acc_delta + epsilon) / std::sqrt(acc_grad + epsilon) * g;
      acc_delta = rho * acc_delta + (1 - rho) * delta * delta;
      w -= delta + wd * w;
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .rho = As<C>(p.rho),
            .epsilon = As<C>(p.epsilon)};
  }
};

// FTRL-Proximal, with L1 regularisation lamda1.
struct FtrlUpdate {
  using Param = FtrlParam;
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    C lr, wd, rescale, clip, lamda1, beta;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& z, C& n) const {
      const C g = Clip(rescale * grad, clip);
      z += g - (std::sqrt(n + g * g) - std::sqrt(n)) * w / lr;
      n += g * g;
      const C shrunk = z > 0 ? lamda1 - z : -lamda1 - z;
      // A NaN in z fails the comparison, so that w becomes NaN.
      w = std::abs(z) <= lamda1 ? C{0} : shrunk / ((beta + std::sqrt(n)) / lr + wd);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .lamda1 = As<C>(p.lamda1),
            .beta = As<C>(p.beta)};
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAGRAD_FUNCTIONS_H_
