// Updates whose rate depends on the norms of the whole weight and of its gradient. MXNet:
// src/operator/optimizer_op.cc; operators that begin with _ are Python code there, and need no
// temporary array of the weight's size here. |x| is the Euclidean norm.

#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/layerwise_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

absl::Status Phase2Shape(ShapeContext& c) {
  using enum LambPhase2Arrays::Input;
  COOPER_RETURN_IF_ERROR(EqualShapes(c, kWeight, 2, 0));  // and kDirection
  if (c.num_inputs() > kWeight32) COOPER_RETURN_IF_ERROR(EqualShapes(c, kWeight32, 1, 0));
  COOPER_RETURN_IF_ERROR(EqualShapes(c, kWeight, 2, 0));
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeightNorm, Shape({1})));
  return c.SetInput(kDirectionNorm, Shape({1}));
}

absl::Status MasterPhase1Type(TypeContext& c) {
  using enum LambPhase1Arrays::Input;
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, c.input(kGrad)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kGrad, c.input(kWeight)));
  for (int i : {kMean, kVar, kWeight32}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  return c.SetOutput(0, DType::kFloat32);
}

absl::Status MasterPhase2Type(TypeContext& c) {
  using enum LambPhase2Arrays::Input;
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, c.output(0)));
  for (int i : {kDirection, kWeightNorm, kDirectionNorm, kWeight32}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  return c.SetOutput(0, c.input(kWeight));
}

OpBuilder&& Phase1(OpBuilder&& op) {
  return std::move(op)
      .Describe(
          "mean = beta1 * mean + (1 - beta1) * g;  var = beta2 * var + (1 - beta2) * g^2;  output "
          "= mean' / (sqrt(var') + epsilon) + wd * weight, where mean' and var' are corrected for "
          "their bias or not")
      .Param<LambPhase1Param>()
      .AuxInputs([](const OpCall&) {
        return std::vector<int>{LambPhase1Arrays::kMean, LambPhase1Arrays::kVar};
      })
      .Shape(SameShape);
}

OpBuilder&& Phase2(OpBuilder&& op) {
  return std::move(op)
      .Describe(
          "weight -= lr * r1 / r2 * g, with r1 = |weight| between the bounds and r2 = |g|; "
          "lr * g if one of them is 0")
      .Param<LambPhase2Param>()
      .Shape(Phase2Shape)
      .InPlace({{LambPhase2Arrays::kWeight, 0}});
}

const OpRegistrar kPhase1 = Phase1(OpBuilder("lamb_update_phase1"))
                                .Inputs({"weight", "grad", "mean", "var"})
                                .Type(SameType);
const OpRegistrar kMasterPhase1 = Phase1(OpBuilder("mp_lamb_update_phase1"))
                                      .Inputs({"weight", "grad", "mean", "var", "weight32"})
                                      .Type(MasterPhase1Type);
const OpRegistrar kPhase2 =
    Phase2(OpBuilder("lamb_update_phase2")).Inputs({"weight", "g", "r1", "r2"}).Type(SameType);
const OpRegistrar kMasterPhase2 =
    Phase2(OpBuilder("mp_lamb_update_phase2"))
        .Inputs({"weight", "g", "r1", "r2", "weight32"})
        .AuxInputs([](const OpCall&) { return std::vector<int>{LambPhase2Arrays::kWeight32}; })
        .Type(MasterPhase2Type);

void RegisterUpdates() {
  constexpr bool kByNorm = false;  // not element-wise
  RegisterUpdate<LambParam>("_lamb_update", {"mean", "var"},
                            "lamb_update_phase1 and lamb_update_phase2 in one.", kByNorm);
  const char* const lars =
      "sgd_mom_update with the rate lr * eta * |weight| / (rescale_grad * |grad| + wd * |weight| + "
      "epsilon), if layerwise and neither norm is 0";
  RegisterUpdate<LarsParam>("_lars_update", {}, lars, kByNorm);
  RegisterUpdate<LarsParam>("_lars_mom_update", {"mom"}, lars, kByNorm);
  const char* const lbsgd =
      "sgd_mom_update with the mean of batch_scale gradients, which cum_grad sums, and the rate "
      "multiplied by sqrt(|weight|^2 / (|mean|^2 + wd * |weight|^2)) within [0.01, 100] if "
      "adaptive";
  RegisterUpdate<LbsgdParam>("_lbsgd_update", {"mom"}, lbsgd, kByNorm);
  RegisterUpdate<LbsgdParam>("_lbsgd_sum_update", {"mom", "cum_grad"}, lbsgd, kByNorm);
}

const bool kRegistered = (RegisterUpdates(), true);

}  // namespace
}  // namespace cooper
