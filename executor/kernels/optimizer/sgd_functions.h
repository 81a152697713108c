#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_

// Stochastic gradient descent of one element, for single and multiple weights, and its variants:
// Nesterov, SignSGD, Signum, DCASGD and SGLD. update_function.h describes the structs.
//
// element_update.h (CPU) and update_elements_cuda.h (GPU) run the functions over whole arrays;
// sgd.cc, multi_sgd.cc and their .cu files register the kernels. Names: w is the weight, g its
// gradient, m the momentum.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/philox.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {

// SGD without momentum. P is the parameter struct of a single or a multiple update. MXNet:
// SGDUpdate.
//
//   w = (1 - lr * wd) * w - lr * clip(rescale * g)
//
// Weight decay is not clipped.
template <typename P>
struct SgdUpdate {
  using Param = P;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
    // keep is 1 - lr * wd, computed in double; clip is infinity without a limit.
    C keep, lr, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C g) const {
      w = keep * w - lr * Clip(rescale * g, clip);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.keep = As<C>(1 - p.lr * p.wd),
            .lr = As<C>(p.lr),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// SGD with momentum. P is the parameter struct of a single or a multiple update.
//
//   m = momentum * m - lr * wd * w - lr * clip(rescale * g)
//   w = w + m
//
// The momentum contains the rate, so a change of lr does not rescale the old momentum.
template <typename P>
struct SgdMomUpdate {
  using Param = P;
  // The momentum, which starts at 0.
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    // decay is lr * wd.
    C momentum, decay, lr, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C g, C& m) const {
      m = momentum * m - decay * w - lr * Clip(rescale * g, clip);
      w += m;
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.momentum = As<C>(p.momentum),
            .decay = As<C>(p.lr * p.wd),
            .lr = As<C>(p.lr),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// Nesterov's accelerated gradient. MXNet: NAGMomUpdate.
//
//   m' = momentum * m
//   w = w + (momentum + 1) * (m' - lr * (clip(rescale * g) + wd * w)) - m'
//   m = m' - lr * (clip(rescale * g) + wd * w), with the new w
struct NagMomUpdate {
  using Param = MomentumParam;
  // The momentum, which starts at 0.
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    // All but clip are the parameters of the same names; clip is infinity without a limit.
    C momentum, wd, lr, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C g, C& m) const {
      const C clipped = Clip(rescale * g, clip);
      m *= momentum;
      w += (momentum + 1) * (m - lr * (clipped + wd * w)) - m;
      m -= lr * (clipped + wd * w);  // uses the new weight, as MXNet does
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.momentum = As<C>(p.momentum),
            .wd = As<C>(p.wd),
            .lr = As<C>(p.lr),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// Returns -1, 0 or 1; 0 for NaN. It needs no branch, so loops over it vectorise.
template <typename C>
COOPER_HOST_DEVICE C SignOf(C x) {
  return static_cast<C>((x > 0) - (x < 0));
}

// SGD with the sign of the gradient. Bernstein et al., "signSGD: Compressed Optimisation for
// Non-Convex Problems" (2018):
//
//   w = (1 - lr * wd) * w - lr * sign(g)
//
// rescale_grad and clip_gradient are not used, because they do not change a sign.
struct SignSgdUpdate {
  using Param = PlainUpdateParam;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
    // keep is 1 - lr * wd.
    C keep, lr;
    COOPER_HOST_DEVICE void operator()(C& w, C g) const { w = keep * w - lr * SignOf(g); }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.keep = As<C>(1 - p.lr * p.wd), .lr = As<C>(p.lr)};
  }
};

// Signum: SGD with the sign of the momentum. wd_lh is a weight decay after Loshchilov and Hutter.
//
//   m = momentum * m - (1 - momentum) * (wd * w + clip(rescale * g))
//   w = (1 - lr * wd_lh) * w + lr * sign(m)
struct SignumUpdate {
  using Param = SignumParam;
  // The momentum, which has the sign of the step.
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    // keep is 1 - lr * wd_lh.
    C momentum, keep, wd, lr, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C g, C& m) const {
      m = momentum * m - (1 - momentum) * (wd * w + Clip(rescale * g, clip));
      w = keep * w + lr * SignOf(m);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.momentum = As<C>(p.momentum),
            .keep = As<C>(1 - p.lr * p.wd_lh),
            .wd = As<C>(p.wd),
            .lr = As<C>(p.lr),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// SGD with compensation of delayed gradients. Zheng et al., "Asynchronous Stochastic Gradient
// Descent with Delay Compensation" (2017), in the form of MXNet's optimizer DCASGD:
//
//   g = clip(rescale * grad)
//   m = momentum * m - lr * (g + wd * w + lamda * g^2 * (w - previous))
//   previous = w, w = w + m
//
// The states are the momentum and the weight before the previous update.
struct DcasgdUpdate {
  using Param = DcasgdParam;
  // The momentum and the previous weight.
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
    // lamda has MXNet's spelling.
    C momentum, lamda, wd, lr, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m, C& previous) const {
      const C g = Clip(rescale * grad, clip);
      m = momentum * m - lr * (g + wd * w + lamda * g * g * (w - previous));
      previous = w;
      w += m;
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.momentum = As<C>(p.momentum),
            .lamda = As<C>(p.lamda),
            .wd = As<C>(p.wd),
            .lr = As<C>(p.lr),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// The deterministic part of SGLD's step. Welling and Teh, "Bayesian Learning via Stochastic
// Gradient Langevin Dynamics" (2011):
//
//   w = w - lr / 2 * (clip(rescale * g) + wd * w) + noise of variance lr
//
// The kernel adds the noise: NormalAt of the stream kSgldStream, times sqrt(lr).
struct SgldStep {
  using Param = SgldParam;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
    // half_lr is lr / 2.
    C half_lr, wd, rescale, clip;
    COOPER_HOST_DEVICE void operator()(C& w, C g) const {
      w -= half_lr * (Clip(rescale * g, clip) + wd * w);
    }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.half_lr = As<C>(p.lr / 2),
            .wd = As<C>(p.wd),
            .rescale = As<C>(p.rescale_grad),
            .clip = LimitAs<C>(p.clip_gradient)};
  }
};

// The stream of the noise, distinct from the streams of other users of the seed.
inline constexpr uint64_t kSgldStream = uint64_t{0x51D} << 52;

// Returns cos(2 * pi * turns). CUDA's cospi needs no reduction of large arguments, which would take
// more code than the rest of the kernel. `turns` is in [0, 1).
COOPER_HOST_DEVICE inline double CosOfTurns(double turns) {
#ifdef __CUDA_ARCH__
  return cospi(2 * turns);
#else
  return std::cos(2 * std::numbers::pi * turns);
#endif
}

// Returns element i of standard normal noise, by the method of Box and Muller:
//
//   sqrt(-2 ln u) * cos(2 pi v), u = (bits[0] + 1) / 2^32, v = bits[1] / 2^32
//
// It uses two of the four words at position i of the stream. u is in (0, 1], so the logarithm is
// finite, and the magnitude is at most 6.66, the root of 64 ln 2.
COOPER_HOST_DEVICE inline double NormalAt(const Philox& noise, uint64_t i) {
  const std::array<uint32_t, 4> bits = noise.At(i);
  const double radius = std::sqrt(-2 * std::log((bits[0] + 1.0) * 0x1p-32));
  return radius * CosOfTurns(bits[1] * 0x1p-32);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_
