#ifndef COOPER_MODULE_OPTIMIZER_ADAM_H_
#define COOPER_MODULE_OPTIMIZER_ADAM_H_

// Adam and its relatives. In the formulas g is clip(rescale_grad * gradient + wd * w): unlike in
// SGD, the decay is inside the clip. t counts the parameter's updates from 1; the states are "mean"
// (m) and "var" (v).

#include <memory>

#include "module/optimizer/optimizer.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {

// m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2;
// w -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
struct AdamOptions {
  OptimizerOptions common;  // learning_rate 0.001
  double beta1 = AdamParam::kBeta1;
  double beta2 = AdamParam::kBeta2;
  double epsilon = AdamParam().epsilon;
};
std::unique_ptr<Optimizer> Adam(const AdamOptions& options = {});

// m as Adam's;  v = max(beta2 * v, |g|);  w -= lr / (1 - beta1^t) * m / v
// A weight whose g, weight decay included, has always been 0 stays unchanged; in MXNet it becomes
// NaN.
struct AdamaxOptions {
  OptimizerOptions common;  // learning_rate 0.002
  double beta1 = AdamaxParam().beta1;
  double beta2 = AdamaxParam().beta2;
};
std::unique_ptr<Optimizer> Adamax(const AdamaxOptions& options = {});

// Adam with Nesterov's momentum, which follows a schedule. As in MXNet all parameters share the
// product of the schedule, which changes with every update of any of them.
struct NadamOptions {
  OptimizerOptions common;  // learning_rate 0.001
  double beta1 = NadamParam().beta1;
  double beta2 = NadamParam().beta2;
  double epsilon = NadamParam().epsilon;
  double schedule_decay = 0.004;
};
std::unique_ptr<Optimizer> Nadam(const NadamOptions& options = {});

// Follow the moving leader, with states "d", "v" and "z":
// v = beta2 * v + (1 - beta2) * g^2;
// d' = (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon);
// z = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * w;  d = d';  w = -z / d
struct FtmlOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double beta1 = FtmlParam().beta1;
  double beta2 = FtmlParam().beta2;
  double epsilon = FtmlParam().epsilon;
};
std::unique_ptr<Optimizer> Ftml(const FtmlOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_ADAM_H_
