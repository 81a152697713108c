// Updates that divide the gradient by the root of its accumulated squares. MXNet:
// src/operator/optimizer_op.cc; operators that begin with _ are Python code there. In the formulas
// h is clip(rescale_grad * grad + wd * weight).

#include "symbol/ops/optimizer/adagrad_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

void RegisterUpdates() {
  RegisterUpdate<AdaGradParam>(
      "_adagrad_update", {"history"},
      "history += g^2;  weight -= lr * (g / sqrt(history + epsilon) + wd * weight)");
  RegisterUpdate<RmsPropParam>("rmsprop_update", {"n"},
                               "n = gamma1 * n + (1 - gamma1) * h^2;  weight -= lr * h / sqrt(n + "
                               "epsilon), clipped to clip_weights");
  RegisterUpdate<RmsPropAlexParam>(
      "rmspropalex_update", {"n", "g", "delta"},
      "n as rmsprop_update's;  g = gamma1 * g + (1 - gamma1) * h;  delta = gamma2 * delta - lr * h "
      "/ sqrt(n - g^2 + epsilon);  weight += delta, clipped to clip_weights");
  RegisterUpdate<AdaDeltaParam>(
      "_adadelta_update", {"acc_grad", "acc_delta"},
      "acc_grad = rho * acc_grad + (1 - rho) * g^2;  x = sqrt(acc_delta + epsilon) / "
      "sqrt(acc_grad + epsilon) * g;  acc_delta = rho * acc_delta + (1 - rho) * x^2;  weight -= x "
      "+ wd * weight");
  RegisterUpdate<FtrlParam>(
      "ftrl_update", {"z", "n"},
      "z += g - (sqrt(n + g^2) - sqrt(n)) * weight / lr;  n += g^2;  weight = (sign(z) * lamda1 - "
      "z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1, else 0");
}

const bool kRegistered = (RegisterUpdates(), true);

}  // namespace
}  // namespace cooper
