// Adam's update and its variants. MXNet: src/operator/optimizer_op.cc and contrib/adamw.cc; other
// operators that begin with _ are Python code there. In the formulas h is clip(rescale_grad * grad
// + wd * weight).

#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/adam_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

// Shape rule for the inputs weight, grad, mean, var, weight32 (mixed precision only), and
// rescale_grad, one element.
absl::Status AdamWShape(ShapeContext& c) {
  const int scale = c.num_inputs() - 1;
  COOPER_RETURN_IF_ERROR(EqualShapes(c, 0, scale, 0));
  return c.SetInput(scale, Shape({1}));
}

absl::Status AdamWType(TypeContext& c) {
  const TypeContext::Type weight = c.input(0).has_value() ? c.input(0) : c.output(0);
  for (int i = 0; i < 4; ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, weight));
  COOPER_RETURN_IF_ERROR(c.SetInput(4, DType::kFloat32));
  return c.SetOutput(0, weight);
}

OpBuilder&& AdamW(OpBuilder&& op) {
  return std::move(op)
      .Describe(
          "mean = beta1 * mean + (1 - beta1) * g;  var = beta2 * var + (1 - beta2) * g^2;  weight "
          "-= eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight). Nothing changes if "
          "rescale_grad, an input, is 0 or not finite.")
      .Param<AdamWParam>()
      .Shape(AdamWShape)
      .InPlace({{0, 0}});
}

void RegisterUpdates() {
  RegisterUpdate<AdamParam>("adam_update", {"mean", "var"},
                            "mean = beta1 * mean + (1 - beta1) * h;  var = beta2 * var + (1 - "
                            "beta2) * h^2;  weight -= lr * mean / (sqrt(var) + epsilon)");
  RegisterUpdate<AdamaxParam>(
      "_adamax_update", {"mean", "var"},
      "mean as adam_update's;  var = max(beta2 * var, |h|);  weight -= lr * "
      "mean / var where mean is not 0");
  RegisterUpdate<NadamParam>("_nadam_update", {"mean", "var"},
                             "mean and var as adam_update's;  weight -= lr * (grad_factor * h + "
                             "mean_factor * mean) / (sqrt(var_factor * var) + epsilon)");
  RegisterUpdate<FtmlParam>("ftml_update", {"d", "v", "z"},
                            "v = beta2 * v + (1 - beta2) * h^2;  d' = (1 - beta1^t) / lr * (sqrt(v "
                            "/ (1 - beta2^t)) + epsilon);  z = beta1 * z + (1 - beta1) * h - (d' - "
                            "beta1 * d) * weight;  d = d';  weight = -z / d");
}

const bool kRegistered = (RegisterUpdates(), true);

const OpRegistrar kAdamW = AdamW(OpBuilder("_adamw_update"))
                               .Inputs({"weight", "grad", "mean", "var", "rescale_grad"})
                               .AuxInputs([](const OpCall&) {
                                 return std::vector<int>{2, 3};
                               })
                               .Type(AdamWType);
const OpRegistrar kMasterAdamW =
    AdamW(OpBuilder("_mp_adamw_update"))
        .Inputs({"weight", "grad", "mean", "var", "weight32", "rescale_grad"})
        .AuxInputs([](const OpCall&) {
          return std::vector<int>{2, 3, 4};
        })
        .Type(MasterTypes);

}  // namespace
}  // namespace cooper
