// Declares the operator lion_update, which performs a step of Lion.

#include "examples/lion/lion_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

void RegisterUpdates() {
  RegisterUpdate<LionParam>("lion_update", {"m"},
                            "weight -= lr * (sign(beta1 * m + (1 - beta1) * g) + wd * weight);  "
                            "m = beta2 * m + (1 - beta2) * g");
}

const bool kRegistered = (RegisterUpdates(), true);

}  // namespace
}  // namespace cooper
