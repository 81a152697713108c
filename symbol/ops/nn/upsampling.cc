// Enlarges images by an integer factor. MXNet: src/operator/nn/upsampling.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/upsampling_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BilinearUpSamplingArrays::Input;

bool IsBilinear(const OpCall& call) {
  return call.param<UpSamplingParam>().sample_type == UpSamplingParam::kBilinear;
}

OpSchema::Names Inputs(const OpCall& call) {
  if (IsBilinear(call)) return {"data", "weight"};
  OpSchema::Names names;
  for (int64_t i = 0; i < call.param<UpSamplingParam>().num_args; ++i) {
    names.push_back(absl::StrCat("arg", i));
  }
  return names;
}

// Shape rule: data (batch_size, channels, height, width), weight (channels, 1, kernel, kernel).
absl::Status BilinearShape(ShapeContext& c) {
  const auto& param = c.param<UpSamplingParam>();
  const PartialShape& data = c.input(kData);
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, {data[1], 1, param.kernel(), param.kernel()},
                                    "(channels, 1, kernel, kernel)"));
  return c.SetOutput(0, {data[0], data[1], ExtentProduct(data[2], param.scale),
                         ExtentProduct(data[3], param.scale)});
}

// Shape rule: every input (batch_size, channels, height, width) is enlarged to `scale` times the
// first one's size.
absl::Status NearestShape(ShapeContext& c) {
  const auto& param = c.param<UpSamplingParam>();
  int64_t batch_size = kUnknownDim;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).rank() == 4 && c.input(i).dim_known(0)) batch_size = c.input(i)[0];
  }
  const PartialShape like = {batch_size, kUnknownDim, kUnknownDim, kUnknownDim};
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, like, "4 axes, with the batch size of all inputs"));
  }
  PartialShape output = {batch_size, 0, ExtentProduct(c.input(0)[2], param.scale),
                         ExtentProduct(c.input(0)[3], param.scale)};
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& input = c.input(i);
    for (int axis = 2; axis < 4; ++axis) {
      if (!input.dim_known(axis) || !output.dim_known(axis)) continue;
      if (input[axis] == 0 || output[axis] % input[axis] != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("extent ", input[axis], " of axis ", axis, " of input ", i, " ",
                         input.ToString(), " does not divide the output's ", output[axis]));
      }
    }
    if (!input.dim_known(1) || output[1] == kUnknownDim) {
      output[1] = kUnknownDim;
    } else if (param.multi_input_mode == UpSamplingParam::kConcat) {
      output[1] = ExtentSum(output[1], input[1]);
    } else if (i > 0 && output[1] != input[1]) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " has shape ", input.ToString(),
                                                     ", expected ", output[1],
                                                     " channels as input 0 has"));
    } else {
      output[1] = input[1];
    }
  }
  return c.SetOutput(0, output);
}

absl::Status UpSamplingShape(ShapeContext& c) {
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  return IsBilinear(c.call()) ? BilinearShape(c) : NearestShape(c);
}

absl::StatusOr<std::vector<NodeEntry>> UpSamplingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  if (IsBilinear(c.call())) {
    return c.Backward("_backward_UpSampling", {head, c.input(kData), c.input(kWeight)});
  }
  return c.Backward("_backward_UpSampling", {head});
}

// bilinear has two inputs; MXNet counts one or both in num_args.
absl::Status CheckNumArgs(AttrMap& attrs) {
  const auto type = attrs.find("sample_type"), num_args = attrs.find("num_args");
  int64_t count = 0;
  if (type == attrs.end() || type->second != "bilinear" || num_args == attrs.end() ||
      !ParseParamText(num_args->second, &count).ok() || count <= 2) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("attribute num_args='", num_args->second,
                                                 "': expected 1 or 2 with sample_type bilinear"));
}

COOPER_REGISTER_OP(UpSampling)
    .Describe("Images `scale` times as high and wide; several inputs are scaled to one size.")
    .Param<UpSamplingParam>()
    .VariadicInputs("num_args")
    .FixAttrs(CheckNumArgs)
    .Inputs(Inputs)
    .Shape(UpSamplingShape)
    .Type(SameType)
    .Gradient(UpSamplingGradient)
    .Kind(OpKind::kPooling);

COOPER_REGISTER_OP(_backward_UpSampling)
    .Describe("Gradients of UpSampling with respect to its inputs.")
    .Param<UpSamplingParam>()
    .Inputs([](const OpCall& call) {
      return IsBilinear(call) ? OpSchema::Names{"ograd", "data", "weight"}
                              : OpSchema::Names{"ograd"};
    })
    .Outputs(Inputs)
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
