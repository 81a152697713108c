#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAGRAD_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAGRAD_FUNCTIONS_H_

// Updates of one element that divide the gradient by the root of its accumulated squares.
// update_function.h describes the structs.
//
// element_update.h (CPU) and update_elements_cuda.h (GPU) run the functions over whole arrays;
// adagrad.cc and adagrad.cu register the kernels. Names: w is the weight, grad its gradient, g the
// gradient after rescaling, weight decay where the algorithm has it there, and clipping.

#include <algorithm>
#include <cmath>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/optimizer/adagrad_param.h"

namespace cooper {

// AdaGrad. Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
// Stochastic Optimization" (2011), in the form of MXNet's optimizer AdaGrad:
//
//   g = clip(rescale * grad)
//   h = h + g^2
//   w = w - lr * (g / sqrt(h + epsilon) + wd * w)
//
// Weight decay does not enter the history h. With epsilon 0, a gradient of 0 on a history of 0
// gives NaN.
struct AdaGradUpdate {
  using Param = AdaGradParam;
  // The sum of squared gradients.
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    // The parameters of the same names, rounded to C; clip is infinity without a limit.
    C lr, wd, rescale, clip, epsilon;
    // The root's argument is at least epsilon, so with a positive epsilon the step is finite for
    // finite g.
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

// RMSProp after Tieleman and Hinton: divides by the root of a moving mean of squares. MXNet:
// RMSPropUpdate in optimizer_op-inl.h.
//
//   g = clip(rescale * grad + wd * w)
//   n = (1 - gamma1) * g^2 + gamma1 * n
//   w = clip_weights(w - lr * g / sqrt(n + epsilon))
//
// The state is n. Weight decay is part of g and so enters n.
struct RmsPropUpdate {
  using Param = RmsPropParam;
  // n, the moving mean of squares.
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    // clip and clip_weights are infinity without a limit; clip_weights bounds the new weight.
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

// RMSProp after Graves, "Generating Sequences With Recurrent Neural Networks" (2013), equations 38
// to 45: subtracts the square of a moving mean and has a momentum. MXNet: RMSPropAlexUpdate.
//
//   g = clip(rescale * grad + wd * w)
//   n = (1 - gamma1) * g^2 + gamma1 * n
//   mean = (1 - gamma1) * g + gamma1 * mean
//   delta = gamma2 * delta - lr * g / sqrt(n - mean^2 + epsilon)
//   w = clip_weights(w + delta)
//
// Rounding can make n - mean^2 slightly negative; epsilon outweighs that error.
struct RmsPropAlexUpdate {
  using Param = RmsPropAlexParam;
  // n, mean and delta.
  static constexpr int kStates = 3;
  template <typename C>
  struct Fn {
    // gamma1 is the decay of both means, gamma2 the momentum.
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

// AdaDelta, which has no learning rate. Zeiler, "ADADELTA: An Adaptive Learning Rate Method"
// (2012), in the form of MXNet's optimizer AdaDelta:
//
//   g = clip(rescale * grad)
//   acc_grad = rho * acc_grad + (1 - rho) * g^2
//   delta = sqrt(acc_delta + epsilon) / sqrt(acc_grad + epsilon) * g
//   acc_delta = rho * acc_delta + (1 - rho) * delta^2
//   w = w - (delta + wd * w)
//
// The step uses the new acc_grad and the old acc_delta. Weight decay does not enter the means.
struct AdaDeltaUpdate {
  using Param = AdaDeltaParam;
  // acc_grad and acc_delta.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // rho is the decay of both means.
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

// FTRL-Proximal, with L1 regularisation lamda1 and L2 regularisation wd. McMahan et al., "Ad Click
// Prediction: a View from the Trenches" (2013), in the form of MXNet's FtrlUpdate:
//
//   g = clip(rescale * grad)
//   z = z + g - (sqrt(n + g^2) - sqrt(n)) / lr * w
//   n = n + g^2
//   w = 0 if |z| <= lamda1, else (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd)
//
// The new weight depends on the states alone, and is exactly 0 where |z| <= lamda1.
struct FtrlUpdate {
  using Param = FtrlParam;
  // z and n.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // lr is alpha of the paper and must not be 0: the update divides by it.
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
