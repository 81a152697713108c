// BatchNorm, with or without a relu, of images whose channels lie in blocks. Not in symbol files: a
// graph pass builds it from BatchNorm.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/blocked_batch_norm_param.h"
#include "symbol/ops/fused/blocked_shape.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BatchNormArrays::Input;
using enum BatchNormArrays::Output;

// Shape rule: data and output (batch_size, channels / block, spatial..., block); everything else is
// (channels,).
absl::Status BlockedBatchNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  const PartialShape& data = c.input(kData);
  if (!data.IsFull()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const PartialShape plain,
                          PlainShape(data, c.param<BlockedBatchNormParam>().block));
  const PartialShape channels = {plain[1]};
  for (int i : {kGamma, kBeta, kMovingMean, kMovingVar}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, channels, "(channels,)"));
  }
  for (int i = kMean; i < BatchNormArrays::kNumOutputs; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, channels, "(channels,)"));
  }
  return absl::OkStatus();
}

// Gradient rule: that of BatchNorm, with beta as a further input: it is needed to find where relu
// was 0.
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  const bool is_stopped = !c.has_head(kOutput);
  if (is_stopped && c.param<BlockedBatchNormParam>().use_global_stats) {
    return std::vector<NodeEntry>(kNumInputs);
  }
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  COOPER_ASSIGN_OR_RETURN(
      std::vector<NodeEntry> gradients,
      c.Backward("_backward_blocked_batch_norm",
                 {head, c.output(kMean), c.output(kVar), c.input(kData), c.input(kGamma),
                  c.input(kBeta), c.input(kMovingMean), c.input(kMovingVar)}));
  gradients.resize(kNumInputs);
  if (is_stopped) gradients[kData] = NodeEntry();
  return gradients;
}

COOPER_REGISTER_OP(_blocked_batch_norm)
    .Describe("BatchNorm of images whose channels lie in blocks, and on request relu of it.")
    .Param<BlockedBatchNormParam>()
    .Inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
    .AuxInputs([](const OpCall&) {
      return std::vector<int>{kMovingMean, kMovingVar};
    })
    .Outputs({"output", "mean", "var"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .WritesInputs([](const OpCall& call) {
      return call.param<BlockedBatchNormParam>().fix_gamma ? std::vector<int>{kGamma}
                                                           : std::vector<int>();
    })
    .Shape(BlockedBatchNormShape)
    .Type(SameType)
    .Gradient(Gradient)
    .Kind(OpKind::kNormalization);

COOPER_REGISTER_OP(_backward_blocked_batch_norm)
    .Describe(
        "Gradients of _blocked_batch_norm with respect to data, gamma and beta; updates the "
        "moving averages.")
    .Param<BlockedBatchNormParam>()
    .Inputs({"ograd", "mean", "var", "data", "gamma", "beta", "moving_mean", "moving_var"})
    .AuxInputs([](const OpCall&) {
      return std::vector<int>{BlockedBatchNormGradientArrays::kMovingMean,
                              BlockedBatchNormGradientArrays::kMovingVar};
    })
    .Outputs({"data", "gamma", "beta"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_blocked_batch_norm, {}, {{2, 3, 4, 5, 8}});

}  // namespace
}  // namespace cooper
