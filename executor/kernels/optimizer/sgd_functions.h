#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_

// Stochastic gradient descent of one element, for single and multiple weights, and its variants:
// Nesterov, SignSGD, Signum, DCASGD and SGLD. update_function.h describes the structs.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/philox.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {

// SGD without momentum. P is the parameter struct of a single or a multiple update.
template <typename P>
struct SgdUpdate {
  using Param = P;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
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
template <typename P>
struct SgdMomUpdate {
  using Param = P;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
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

// Nesterov's accelerated gradient.
struct NagMomUpdate {
  using Param = MomentumParam;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
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

// Returns -1, 0 or 1; 0 for NaN.
template <typename C>
COOPER_HOST_DEVICE C SignOf(C x) {
  return static_cast<C>((x > 0) - (x < 0));
}

// SGD with the sign of the gradient.
struct SignSgdUpdate {
  using Param = PlainUpdateParam;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
    C keep, lr;
    COOPER_HOST_DEVICE void operator()(C& w, C g) const { w = keep * w - lr * SignOf(g); }
  };
  template <typename C>
  COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
    return {.keep = As<C>(1 - p.lr * p.wd), .lr = As<C>(p.lr)};
  }
};

// Signum: SGD with the sign of the momentum. wd_lh is a weight decay after Loshchilov and Hutter.
struct SignumUpdate {
  using Param = SignumParam;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
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

// SGD with compensation of delayed gradients.
struct DcasgdUpdate {
  using Param = DcasgdParam;
  static constexpr int kStates = 2;
  template <typename C>
  struct Fn {
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

// The deterministic part of SGLD's step. The kernel then adds noise: NormalAt of the stream
// kSgldStream, times the root of the rate.
struct SgldStep {
  using Param = SgldParam;
  static constexpr int kStates = 0;
  template <typename C>
  struct Fn {
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
// more code than the rest of the kernel.
COOPER_HOST_DEVICE inline double CosOfTurns(double turns) {
#ifdef __CUDA_ARCH__
  return cospi(2 * turns);
#else
  return std::cos(2 * std::numbers::pi * turns);
#endif
}

// Returns element i of standard normal noise, by the method of Box and Muller.
COOPER_HOST_DEVICE inline double NormalAt(const Philox& noise, uint64_t i) {
  const std::array<uint32_t, 4> bits = noise.At(i);
  const double radius = std::sqrt(-2 * std::log((bits[0] + 1.0) * 0x1p-32));
  return radius * CosOfTurns(bits[1] * 0x1p-32);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_SGD_FUNCTIONS_H_
