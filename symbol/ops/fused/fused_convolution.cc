// A _blocked_convolution and the operators that follow it in prediction: BatchNorm, the addition of
// another array, relu or clip. Not in symbol files: a graph pass builds it where no gradient is
// requested.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/blocked_convolution_shape.h"
#include "symbol/ops/fused/fused_convolution_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

OpSchema::Names Inputs(const OpCall& call) {
  const auto& param = call.param<FusedConvolutionParam>();
  OpSchema::Names names = {"data", "weight"};
  if (param.sum) names.push_back("addend");
  if (!param.no_bias) names.push_back("bias");
  if (param.batch_norm) {
    names.insert(names.end(), {"gamma", "beta", "moving_mean", "moving_var"});
  }
  return names;
}

// Shape rule: data, weight, bias and output as in _blocked_convolution; addend has the output's
// shape; the others are (num_filter,).
absl::Status FusedConvolutionShape(ShapeContext& c) {
  const auto& param = c.param<FusedConvolutionParam>();
  const FusedConvolutionInputs in(param);
  COOPER_RETURN_IF_ERROR(BlockedConvolutionShape(param, in.bias, !param.weight_packing.empty(), c));
  if (in.addend >= 0) COOPER_RETURN_IF_ERROR(c.SetInput(in.addend, c.output(0), "as the output"));
  for (int i : {in.gamma, in.beta, in.moving_mean, in.moving_var}) {
    if (i >= 0) COOPER_RETURN_IF_ERROR(c.SetInput(i, {param.num_filter}, "(num_filter,)"));
  }
  return absl::OkStatus();
}

// BatchNorm's scales cannot be applied to a packed weight.
absl::Status CheckPacking(const FusedConvolutionParam& param) {
  if (param.weight_packing.empty() || !param.batch_norm) return absl::OkStatus();
  return absl::InvalidArgumentError("batch_norm, which packed weights are made without");
}

absl::Status CheckSum(const FusedConvolutionParam& param, bool sum) {
  if (param.sum == sum) return absl::OkStatus();
  return absl::InvalidArgumentError("sum is true for _fused_convolution_sum, and for it alone");
}

absl::Status CheckEnd(const FusedConvolutionParam& param) {
  if (param.relu && param.clip) {
    return absl::InvalidArgumentError("relu and clip, of which one can follow");
  }
  if (!param.clip || param.a_min <= param.a_max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a_min ", param.a_min, " is above a_max ", param.a_max));
}

template <bool kSum>
OpBuilder Declared(const char* name) {
  return OpBuilder(name)
      .Param<FusedConvolutionParam>()
      .Inputs(Inputs)
      .AuxInputs([](const OpCall& call) -> std::vector<int> {
        const FusedConvolutionInputs in(call.param<FusedConvolutionParam>());
        if (in.moving_mean < 0) return {};
        return {in.moving_mean, in.moving_var};
      })
      .WritesInputs([](const OpCall& call) -> std::vector<int> {
        const auto& param = call.param<FusedConvolutionParam>();
        if (!param.batch_norm || !param.fix_gamma) return {};
        return {FusedConvolutionInputs(param).gamma};
      })
      .Shape([](ShapeContext& c) -> absl::Status {
        const auto& param = c.param<FusedConvolutionParam>();
        COOPER_RETURN_IF_ERROR(CheckSum(param, kSum));
        COOPER_RETURN_IF_ERROR(CheckPacking(param));
        COOPER_RETURN_IF_ERROR(CheckEnd(param));
        return FusedConvolutionShape(c);
      })
      .Type(SameType)
      .Kind(OpKind::kLayer);
}

const OpRegistrar kRegistrars[] = {
    Declared<false>("_fused_convolution")
        .Describe("_blocked_convolution, BatchNorm and relu or clip in one."),
    // A separate operator, since the output may overwrite the addend.
    Declared<true>("_fused_convolution_sum")
        .Describe("_blocked_convolution, BatchNorm, an addition and relu or clip in one.")
        .InPlace({{2, 0}}),
};

COOPER_OP_EXAMPLE(_fused_convolution,
                  {{"kernel", "(3, 3)"}, {"num_filter", "16"}, {"relu", "True"}},
                  {{2, 3, 4, 5, 8}, {}, {}});
COOPER_OP_EXAMPLE(_fused_convolution_sum,
                  {{"kernel", "(3, 3)"}, {"num_filter", "16"}, {"sum", "True"}},
                  {{2, 3, 4, 5, 8}, {}, {}, {}});

}  // namespace
}  // namespace cooper
