// Gradient descent with and without momentum, and its variants. MXNet:
// src/operator/optimizer_op.cc; operators that begin with _ are Python code there.

#include "symbol/ops/optimizer/sgd_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

void RegisterUpdates() {
  RegisterUpdate<SgdParam>("sgd_update", {}, "weight = (1 - lr * wd) * weight - lr * g");
  RegisterUpdate<SgdMomParam>("sgd_mom_update", {"mom"},
                              "mom = momentum * mom - lr * wd * weight - lr * g;  weight += mom");
  RegisterUpdate<MomentumParam>("nag_mom_update", {"mom"},
                                "Nesterov's: mom = momentum * mom;  weight += (1 + momentum) * "
                                "(mom - lr * (g + wd * weight)) - mom;  mom -= lr * (g + wd * "
                                "weight), with the new weight");
  RegisterUpdate<PlainUpdateParam>("signsgd_update", {},
                                   "weight = (1 - lr * wd) * weight - lr * sign(grad)");
  RegisterUpdate<SignumParam>("signum_update", {"mom"},
                              "mom = momentum * mom - (1 - momentum) * (wd * weight + g);  weight "
                              "= (1 - lr * wd_lh) * weight + lr * sign(mom)");
  RegisterUpdate<DcasgdParam>("_dcasgd_update", {"mom", "previous_weight"},
                              "mom = momentum * mom - lr * (g + wd * weight + lamda * g^2 * "
                              "(weight - previous_weight));  weight += mom");
  RegisterUpdate<SgldParam>(
      "_sgld_update", {}, "weight -= lr / 2 * (g + wd * weight), plus normal noise of variance lr",
      /*elementwise=*/false);
}

const bool kRegistered = (RegisterUpdates(), true);

}  // namespace
}  // namespace cooper
