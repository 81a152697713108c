#ifndef COOPER_EXAMPLES_LION_LION_FUNCTION_H_
#define COOPER_EXAMPLES_LION_LION_FUNCTION_H_

// The arithmetic of lion_update for one element, on any device.

#include "examples/lion/lion_param.h"
#include "executor/kernels/optimizer/update_function.h"
#include "ndarray/base/host_device.h"

namespace cooper {

struct LionUpdate {
  using Param = LionParam;
  static constexpr int kStates = 1;
  template <typename C>
  struct Fn {
    C lr, wd, rescale, clip, beta1, beta2;
    COOPER_HOST_DEVICE void operator()(C& w, C grad, C& m) const {
      const C g = Clip(rescale * grad, clip);
      const C direction = beta1 * m + (1 - beta1) * g;
      const C sign = direction > 0 ? C{1} : direction < 0 ? C{-1} : direction;  // keeps NaN
      w -= lr * (sign + wd * w);
      m = beta2 * m + (1 - beta2) * g;
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

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LION_LION_FUNCTION_H_
