#ifndef COOPER_EXAMPLES_LION_LION_H_
#define COOPER_EXAMPLES_LION_LION_H_

// Lion, an example of adding an optimizer that MXNet lacks (Chen et al., "Symbolic Discovery of
// Optimization Algorithms", 2023). docs/optimizers.md explains it.

#include <memory>

#include "examples/lion/lion_param.h"
#include "module/optimizer/optimizer.h"

namespace cooper {

// The update, with g = clip(rescale_grad * gradient) and the state "m":
// w -= lr * (sign(beta1 * m + (1 - beta1) * g) + wd * w);  m = beta2 * m + (1 - beta2) * g
struct LionOptions {
  OptimizerOptions common;  // learning_rate 0.0001
  double beta1 = LionParam().beta1;
  double beta2 = LionParam().beta2;
};
std::unique_ptr<Optimizer> Lion(const LionOptions& options);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LION_LION_H_
