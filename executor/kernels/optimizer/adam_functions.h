#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAM_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAM_FUNCTIONS_H_

// Updates of one element by Adam and its variants. update_function.h describes the structs.
//
// element_update.h (CPU) and update_elements_cuda.h (GPU) run the functions over whole arrays;
// adam.cc and adam.cu register the kernels. Names: w is the weight, grad its gradient, g the
// gradient after rescaling and clipping, m and v the moving means.

#include <algorithm>
#include <cmath>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {

// Adam without bias correction, which the optimizer includes in lr. Kingma and Ba, "Adam: A Method
// for Stochastic Optimization" (2015), in the form of MXNet's AdamUpdate:
//
//   g = clip(rescale * grad + wd * w)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   w = w - lr * m / (sqrt(v) + epsilon)
//
// Weight decay is part of g and so enters both means.
struct AdamUpdate {
  using Param = AdamParam;
  // m and v: the moving means of g and g^2.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // The parameters of the same names, rounded to C; clip is infinity without a limit.
    C lr, wd, rescale, clip, beta1, beta2, epsilon;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m, C& v) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * m / (std::sqrt(v) + epsilon);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2),
            .epsilon = As<C>(p.epsilon)};
  }
};

// Adamax divides by a decaying maximum of the gradients instead of a mean of squares: section 7.1
// of the paper on Adam.
//
//   g = clip(rescale * grad + wd * w)
//   m = beta1 * m + (1 - beta1) * g
//   v = max(beta2 * v, |g|)
//   w = w - lr * m / v, unchanged if m is 0
//
// It has no epsilon. The optimizer includes the bias correction in lr.
struct AdamaxUpdate {
  using Param = AdamaxParam;
  // m, the moving mean of g, and v, the decaying maximum of |g|.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // beta1 is the decay of the mean, beta2 that of the maximum.
    C lr, wd, rescale, clip, beta1, beta2;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m, C& v) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = std::max(beta2 * v, std::abs(g));
      if (m != 0) w -= lr * m / v;  // v is 0 only if all gradients so far were 0
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2)};
  }
};

// Adam with Nesterov's momentum. Dozat, "Incorporating Nesterov Momentum into Adam" (2016). m and v
// are those of AdamUpdate; the weight is
//
//   w = w - lr * (grad_factor * g + mean_factor * m) / (sqrt(var_factor * v) + epsilon)
//
// The optimizer computes the three factors once for each update. They contain the momentum schedule
// and the bias corrections.
struct NadamUpdate {
  using Param = NadamParam;
  // m and v, as in Adam.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // The factors of the gradient, of the mean and of the mean of squares come last.
    C lr, wd, rescale, clip, beta1, beta2, epsilon, grad_factor, mean_factor, var_factor;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m, C& v) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * (grad_factor * g + mean_factor * m) / (std::sqrt(var_factor * v) + epsilon);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.lr = As<C>(p.lr),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2),
            .epsilon = As<C>(p.epsilon),
            .grad_factor = As<C>(p.grad_factor),
            .mean_factor = As<C>(p.mean_factor),
            .var_factor = As<C>(p.var_factor)};
  }
};

// Follow the Moving Leader. Zheng and Kwok, "Follow the Moving Leader in Deep Learning" (2017), in
// the form of MXNet's FTMLUpdate; t is the number of the update, from 1:
//
//   g = clip(rescale * grad + wd * w)
//   v = beta2 * v + (1 - beta2) * g^2
//   d' = (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon)
//   z = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * w
//   d = d', w = -z / d
//
// The new weight depends on the states alone.
struct FtmlUpdate {
  using Param = FtmlParam;
  // d, v and z, in the order of MXNet's inputs.
  static constexpr int kStates = 3;
  template <typename C>
  struct Fn {
    // d_factor is (1 - beta1^t) / lr, v_factor is 1 / (1 - beta2^t).
    C wd, rescale, clip, beta1, beta2, epsilon, d_factor, v_factor;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& d, C& v, C& z) const {
      const C g = Clip(rescale * grad + wd * w, clip);
      v = beta2 * v + (1 - beta2) * g * g;
      const C next_d = d_factor * (std::sqrt(v_factor * v) + epsilon);
      z = beta1 * z + (1 - beta1) * g - (next_d - beta1 * d) * w;
      d = next_d;
      w = -z / d;
    }
  };
  // Computes the powers in double, because 1 - beta2^t loses most digits of a float for small t.
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    const auto t = static_cast<double>(p.t);
    const double d_factor = (1 - std::pow(p.beta1, t)) / p.lr;
    const double v_factor = 1 / (1 - std::pow(p.beta2, t));
    return {.wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2),
            .epsilon = As<C>(p.epsilon),
            .d_factor = As<C>(d_factor),
            .v_factor = As<C>(v_factor)};
  }
};

// AdamW: weight decay does not enter the means. Loshchilov and Hutter, "Decoupled Weight Decay
// Regularization" (2019), in the form of MXNet's contrib/adamw-inl.h:
//
//   g = clip(scale * grad)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   w = w - eta * (lr * m / (sqrt(v) + epsilon) + wd * w)
//
// `scale` takes the place of rescale_grad and is computed from all gradients. If it is 0 or not
// finite, nothing is updated.
struct AdamWUpdate {
  using Param = AdamWParam;
  // m and v, as in Adam.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // lr and wd are already multiplied by eta.
    C lr, wd, rescale, clip, beta1, beta2, epsilon;
    // Whether weight and states stay as they are, after an overflow of a scaled loss.
    bool skip;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m, C& v) const {
      if (skip) return;
      const C g = Clip(rescale * grad, clip);
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= lr * m / (std::sqrt(v) + epsilon) + wd * w;
    }
  };
  // Unlike the Make of other updates, this one takes the scale separately: it is an input of the
  // node, which a GPU kernel reads from device memory.
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p, double scale) {
    return {.lr = As<C>(p.eta * p.lr),
            .wd = As<C>(p.eta * p.wd),
            .rescale = As<C>(scale),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2),
            .epsilon = As<C>(p.epsilon),
            .skip = !std::isfinite(scale) || scale == 0};
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_ADAM_FUNCTIONS_H_
