#ifndef COOPER_MODULE_OPTIMIZER_LAYERWISE_H_
#define COOPER_MODULE_OPTIMIZER_LAYERWISE_H_

// Optimizers for large batches, whose learning rate depends on the norms of the whole parameter and
// of its gradient. |x| is the Euclidean norm; g is clip(rescale_grad * gradient).

#include <cstdint>
#include <memory>
#include <optional>

#include "module/optimizer/optimizer.h"
#include "symbol/ops/optimizer/layerwise_param.h"

namespace cooper {

// SGD with the rate lr * eta * |w| / (rescale_grad * |gradient| + wd * |w| + eps), except for names
// that end in "gamma", "beta" or "bias" and where a norm is 0. Names that end in "_gamma" have no
// decay.
struct LarsOptions {
  OptimizerOptions common;  // learning_rate 0.01
  double momentum = LarsParam().momentum;
  double eta = LarsParam().eta;
  double eps = LarsParam().epsilon;
  // When the rate changes, the momentum of that step is multiplied by new rate / old rate.
  bool momentum_correction = true;
};
std::unique_ptr<Optimizer> Lars(const LarsOptions& options = {});

// Adam's mean and variance of g; x = m' / (sqrt(v') + epsilon) + wd * w, where m' and v' are
// bias-corrected or not; w -= lr * min(max(|w|, lower_bound), upper_bound) / |x| * x
struct LambOptions {
  OptimizerOptions common;  // learning_rate 0.001
  double beta1 = LambParam().beta1;
  double beta2 = LambParam().beta2;
  double epsilon = LambParam().epsilon;
  std::optional<double> lower_bound;
  std::optional<double> upper_bound;
  bool bias_correction = LambParam().bias_correction;
};
std::unique_ptr<Optimizer> Lamb(const LambOptions& options = {});

// SGD with momentum, one step per batch_scale updates, on the mean of their gradients. The rate is
// multiplied by a factor that rises from 1 to batch_scale during the warm-up, or (kLars) by
// sqrt(|w|^2 / (|gradient|^2 + wd * |w|^2)) within [0.01, 100].
struct LbsgdOptions {
  // How the factor of the rate rises from 1 to batch_scale over the warm-up: linearly, by the
  // square or the root of the share that is over, or not at all (kLars, which uses the norms
  // instead).
  enum class WarmupStrategy { kLinear, kPower2, kSqrt, kLars };

  OptimizerOptions common;  // learning_rate 0.01
  double momentum = LbsgdParam().momentum;
  WarmupStrategy warmup_strategy = WarmupStrategy::kLinear;
  int64_t warmup_epochs = 5;                       // in [0, 2^26]
  int64_t batch_scale = LbsgdParam().batch_scale;  // >= 1
  int64_t updates_per_epoch = 32;                  // in [0, 2^26]
  int64_t begin_epoch = 0;                         // in [0, 2^26]
};
std::unique_ptr<Optimizer> Lbsgd(const LbsgdOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_LAYERWISE_H_
