// Computes the weight and bias of a convolution that is equivalent in prediction to a convolution
// followed by a BatchNorm. Not in symbol files: a graph pass inserts it where all inputs are
// constants.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/folded_batch_norm_param.h"
#include "symbol/ops/rules/bias_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum FoldedBatchNormArrays::Input;
using enum FoldedBatchNormArrays::Output;

OpSchema::Names Inputs(const OpCall& call) {
  OpSchema::Names names = {"weight", "gamma", "beta", "moving_mean", "moving_var"};
  if (!call.param<FoldedBatchNormParam>().no_bias) names.push_back("bias");
  return names;
}

absl::Status FoldedBatchNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kScaledWeight, c.input(kWeight)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, c.output(kScaledWeight)));
  const PartialShape& weight = c.input(kWeight);
  if (!weight.rank_known()) return absl::OkStatus();
  if (weight.rank() == 0) return absl::InvalidArgumentError("weight is a scalar");
  const PartialShape filters = {weight[0]};
  for (int i = kGamma; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(i == kBias ? SetBias(c, i, weight[0], "(num_filter,)")
                                      : c.SetInput(i, filters, "(num_filter,)"));
  }
  return c.SetOutput(kShift, filters, "(num_filter,)");
}

COOPER_REGISTER_OP(_folded_batch_norm)
    .Describe("Weight and bias of a convolution with those of the BatchNorm behind it.")
    .Param<FoldedBatchNormParam>()
    .Inputs(Inputs)
    .Outputs({"scaled_weight", "shift"})
    .Shape(FoldedBatchNormShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_folded_batch_norm, {}, {{16, 8, 3, 3}});

}  // namespace
}  // namespace cooper
