#ifndef COOPER_MODULE_OPTIMIZER_SGD_H_
#define COOPER_MODULE_OPTIMIZER_SGD_H_

// Gradient descent and variants that differ in the momentum only. In the formulas g is
// clip(rescale_grad * gradient), w the weight, m the state "momentum" (absent when momentum is 0).

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "module/optimizer/optimizer.h"
#include "ndarray/base/default_seed.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {

// m = momentum * m - lr * wd * w - lr * g;  w += m
struct SgdOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double momentum = SgdMomParam().momentum;
};
std::unique_ptr<Optimizer> Sgd(const SgdOptions& options = {});

// Nesterov's: m = momentum * m;  w += (1 + momentum) * (m - lr * (g + wd * w)) - m;
// m -= lr * (g + wd * w), here with the new w
struct NagOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double momentum = MomentumParam().momentum;
};
std::unique_ptr<Optimizer> Nag(const NagOptions& options = {});

// m = momentum * m - (1 - momentum) * (wd * w + g);  w = (1 - lr * wd_lh) * w + lr * sign(m);
// without momentum w = (1 - lr * wd) * w - lr * sign(gradient)
struct SignumOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double momentum = 0.9;
  double wd_lh = SignumParam().wd_lh;  // decoupled decay, only for updates with momentum
};
// kInvalidArgument for wd_lh without momentum, with which MXNet's update fails.
absl::StatusOr<std::unique_ptr<Optimizer>> Signum(const SignumOptions& options = {});

// Delay compensation, with p ("previous_weight") the weight before the last update:
// m = momentum * m - lr * (g + wd * w + lamda * g^2 * (w - p));  p = w;  w += m
struct DcasgdOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double momentum = DcasgdParam().momentum;
  double lamda = DcasgdParam().lamda;
};
std::unique_ptr<Optimizer> Dcasgd(const DcasgdOptions& options = {});

// Langevin dynamics: w -= lr / 2 * (g + wd * w), plus normal noise of variance lr. An update whose
// multiplier makes the rate negative is an error.
struct SgldOptions {
  OptimizerOptions common;  // learning_rate 0.01
  uint64_t seed = DefaultSeed();
};
std::unique_ptr<Optimizer> Sgld(const SgldOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_SGD_H_
