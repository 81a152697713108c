#ifndef COOPER_MODULE_OPTIMIZER_ADAGRAD_H_
#define COOPER_MODULE_OPTIMIZER_ADAGRAD_H_

// Optimizers that divide the gradient by the root of its past squares. In the formulas g is
// clip(rescale_grad * gradient), without decay, except for RMSProp.

#include <memory>
#include <optional>

#include "module/optimizer/optimizer.h"
#include "symbol/ops/optimizer/adagrad_param.h"

namespace cooper {

// history += g^2;  w -= lr * (g / sqrt(history + eps) + wd * w)
struct AdaGradOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double eps = AdaGradParam().epsilon;
};
std::unique_ptr<Optimizer> AdaGrad(const AdaGradOptions& options = {});

// With g = clip(rescale_grad * gradient + wd * w) and states "n", "g", "delta":
// n = gamma1 * n + (1 - gamma1) * g^2;  w -= lr * g / sqrt(n + epsilon)
// centered: g' = gamma1 * g' + (1 - gamma1) * g;
//           delta = gamma2 * delta - lr * g / sqrt(n - g'^2 + epsilon);  w += delta
struct RmsPropOptions {
  OptimizerOptions common;                    // learning_rate 0.001
  double gamma1 = 0.9;                        // as MXNet's optimizer; its operators have 0.95
  double gamma2 = RmsPropAlexParam().gamma2;  // centered only
  double epsilon = RmsPropParam().epsilon;
  bool centered = false;
  std::optional<double> clip_weights;  // weights stay in [-clip_weights, clip_weights]
};
std::unique_ptr<Optimizer> RmsProp(const RmsPropOptions& options = {});

// With states "acc_grad" (a) and "acc_delta" (d); there is no learning rate:
// a = rho * a + (1 - rho) * g^2;  x = sqrt(d + epsilon) / sqrt(a + epsilon) * g;
// d = rho * d + (1 - rho) * x^2;  w -= x + wd * w
struct AdaDeltaOptions {
  OptimizerOptions common;
  double rho = AdaDeltaParam().rho;
  double epsilon = AdaDeltaParam().epsilon;
};
std::unique_ptr<Optimizer> AdaDelta(const AdaDeltaOptions& options = {});

// Follow the regularised leader, with states "z" and "n":
// z += g - (sqrt(n + g^2) - sqrt(n)) * w / lr;  n += g^2;
// w = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1, else 0
struct FtrlOptions {
  OptimizerOptions common;  // learning_rate 0.1
  double lamda1 = FtrlParam().lamda1;
  double beta = FtrlParam().beta;
};
std::unique_ptr<Optimizer> Ftrl(const FtrlOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_ADAGRAD_H_
