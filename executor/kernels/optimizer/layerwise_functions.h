#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_LAYERWISE_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_LAYERWISE_FUNCTIONS_H_

// Updates of one element at a rate that depends on the norms of the whole weight and of its
// gradient, and the computation of that rate: LAMB, LARS and LBSGD.
//
// A layerwise update has two passes: the first computes norms (sum_squares.h on the CPU,
// block_sums.h on a GPU), the second updates the elements at the rate that the norms give. Rates
// are computed in double. layerwise.cc and layerwise.cu are the kernels.

#include <algorithm>
#include <cmath>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/optimizer/layerwise_param.h"
#include "symbol/ops/optimizer/multi_param.h"

namespace cooper {

// Updates the moving mean m and variance v of LAMB for one element. You et al., "Large Batch
// Optimization for Deep Learning: Training BERT in 76 minutes" (2020); MXNet: lamb_update_phase1.
//
//   g = clip(rescale * grad)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//
// Weight decay does not enter the means.
template <typename C>
struct LambMoments {
  // clip is infinity without a limit.
  C rescale, clip, beta1, beta2;

  // Returns the function for the parameters, which are rounded to C.
  static LambMoments Make(const LambPhase1Param& p) {
    return {.rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient),
            .beta1 = As<C>(p.beta1),
            .beta2 = As<C>(p.beta2)};
  }
  // Updates m and v in place.
  COOPER_HOST_DEVICE void operator()(C grad, C& m, C& v) const {
    const C g = Clip(rescale * grad, clip);
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
  }
};

// Computes the direction of LAMB's step for one element, from the updated mean and variance:
//
//   m_factor * m / (sqrt(v_factor * v) + epsilon) + wd * w
template <typename C>
struct LambDirection {
  // The factors are 1 without bias correction, else 1 / (1 - beta^t), computed in double.
  C wd, m_factor, v_factor, epsilon;

  // Returns the function for the parameters. Computes powers in double, then rounds to C.
  static LambDirection Make(const LambPhase1Param& p) {
    const auto t = static_cast<double>(p.t);
    return {.wd = As<C>(p.wd),
            .m_factor = As<C>(p.bias_correction ? 1 / (1 - std::pow(p.beta1, t)) : 1),
            .v_factor = As<C>(p.bias_correction ? 1 / (1 - std::pow(p.beta2, t)) : 1),
            .epsilon = As<C>(p.epsilon)};
  }
  // Returns the direction; epsilon is added to the root, not under it.
  COOPER_HOST_DEVICE C operator()(C w, C m, C v) const {
    return m_factor * m / (std::sqrt(v_factor * v) + epsilon) + wd * w;
  }
};

// Applies LAMB's step, w = w - lr * direction, to one element whose mean and variance are updated
// already. It recomputes the direction, which costs less than storing it in an array and reading
// it.
template <typename C>
struct LambStep {
  LambDirection<C> x;
  // The rate that LambRate returns.
  C lr;

  // `lr` is the result of LambRate.
  static LambStep Make(const LambPhase1Param& p, double lr) {
    return {.x = LambDirection<C>::Make(p), .lr = As<C>(lr)};
  }
  COOPER_HOST_DEVICE void operator()(C& w, C, C& m, C& v) const { w -= lr * x(w, m, v); }
};

// Returns LAMB's rate, given the norms |w| of the weight and |d| of the direction:
//
//   lr * clamp(|w|, lower_bound, upper_bound) / |d|, and lr if the clamped |w| or |d| is 0
//
// A negative bound means no bound. P is LambParam or LambPhase2Param.
template <typename P>
COOPER_HOST_DEVICE double LambRate(const P& p, double weight, double direction) {
  if (p.lower_bound >= 0) weight = std::max(weight, p.lower_bound);
  if (p.upper_bound >= 0) weight = std::min(weight, p.upper_bound);
  return weight != 0 && direction != 0 ? p.lr * weight / direction : p.lr;
}

// Returns the rate of LARS, given the squared norms of the weight and of the gradient. You, Gitman
// and Ginsburg, "Large Batch Training of Convolutional Networks" (2017):
//
//   lr * eta * |w| / (|g| * rescale_grad + wd * |w| + epsilon), and lr if a norm is 0 or NaN
COOPER_HOST_DEVICE inline double LarsRate(const LarsParam& p, double weight, double grad) {
  if (!(weight > 0 && grad > 0)) return p.lr;
  weight = std::sqrt(weight);
  return p.lr * (p.eta * weight / (std::sqrt(grad) * p.rescale_grad + p.wd * weight + p.epsilon));
}

// Returns the rate that multi_lars computes from `lr`. `weight_square` and `grad_square` are
// squared norms, as multi_sum_sq computes them. Returns lr where a norm is 0 or NaN.
COOPER_HOST_DEVICE inline double MultiLarsRate(const MultiLarsParam& p, double lr,
                                               float weight_square, float grad_square, double wd) {
  const double weight = std::sqrt(weight_square), grad = std::sqrt(grad_square);  // roots of floats
  if (!(weight > 0 && grad > 0)) return lr;
  return lr * (p.eta * weight / (grad * p.rescale_grad + wd * weight + p.eps));
}

// The step of LARS and LBSGD:
//
//   m = momentum * m - lr * wd * w - lr * clip(rescale * g)
//   w = w + m
//
// `lr` and `rescale` are arguments of Make because they depend on norms.
template <typename C>
struct SgdStep {
  // decay is lr * wd.
  C momentum, decay, lr, rescale, clip;

  COOPER_HOST_DEVICE static SgdStep Make(const MomentumParam& p, double lr, double rescale) {
    return {.momentum = As<C>(p.momentum),
            .decay = As<C>(lr * p.wd),
            .lr = As<C>(lr),
            .rescale = As<C>(rescale),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
  // Returns the new momentum, which is also the change of the weight.
  COOPER_HOST_DEVICE C Momentum(C w, C g, C m) const {
    return momentum * m - decay * w - lr * Clip(rescale * g, clip);
  }
  // Applies the step without a momentum array.
  COOPER_HOST_DEVICE void operator()(C& w, C g) const { w += Momentum(w, g, C{0}); }
  COOPER_HOST_DEVICE void operator()(C& w, C g, C& m) const {
    m = Momentum(w, g, m);
    w += m;
  }
};

// Returns the factor of LBSGD's rate, in [0.01, 100], in the form of MXNet's optimizer LBSGD:
//
//   sqrt(W / (G + wd * W + 1e-18))
//
// `weight` is W, the squared norm of the weight. `grad` is the squared norm of the sum of
// batch_scale gradients, of which G is that of the mean.
COOPER_HOST_DEVICE inline double LbsgdFactor(const LbsgdParam& p, double weight, double grad) {
  const double mean = 1 / static_cast<double>(p.batch_scale);
  const double factor = std::sqrt(weight / (grad * mean * mean + p.wd * weight + 1e-18));
  return std::min(std::max(factor, 0.01), 100.0);
}

// Returns LBSGD's step with the factor that LbsgdFactor returned, for a sum of batch_scale
// gradients.
template <typename C>
COOPER_HOST_DEVICE SgdStep<C> LbsgdStepOf(const LbsgdParam& p, double factor) {
  const double mean = 1 / static_cast<double>(p.batch_scale);
  return SgdStep<C>::Make(p, p.lr * factor, p.rescale_grad * mean);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_LAYERWISE_FUNCTIONS_H_
