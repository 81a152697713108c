#ifndef COOPER_EXECUTOR_CPU_OPTIMIZER_SGD_FUNCTIONS_H_
#define COOPER_EXECUTOR_CPU_OPTIMIZER_SGD_FUNCTIONS_H_

// Gradient descent of one element, for single weights and several.

#include "executor/cpu/optimizer/element_update.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {

template <typename P>
struct SgdUpdate {
  using Param = P;
  static constexpr int kStates = 0;
  template <typename C>
  static auto Make(const Param& p) {
    return [keep = As<C>(1 - p.lr * p.wd), lr = As<C>(p.lr), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient)](C& w, C g) {
      w = keep * w - lr * Clip(rescale * g, clip);
    };
  }
};

template <typename P>
struct SgdMomUpdate {
  using Param = P;
  static constexpr int kStates = 1;
  template <typename C>
  static auto Make(const Param& p) {
    return [momentum = As<C>(p.momentum), decay = As<C>(p.lr * p.wd), lr = As<C>(p.lr),
            rescale = As<C>(p.rescale_grad), clip = LimitAs<C>(p.clip_gradient)](C& w, C g, C& m) {
      m = momentum * m - decay * w - lr * Clip(rescale * g, clip);
      w += m;
    };
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_OPTIMIZER_SGD_FUNCTIONS_H_
