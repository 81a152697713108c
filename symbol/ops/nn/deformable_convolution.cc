// Convolutions that take their elements at computed positions. MXNet:
// src/operator/contrib/deformable_convolution.cc, modulated_deformable_convolution.cc.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/ops/nn/deformable_convolution_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

constexpr int kOffset = DeformableConvolutionArrays::kOffset;
constexpr int kMask = ModulatedDeformableConvolutionArrays::kMask;

absl::Status CheckParam(const DeformableConvolutionParam& param) {
  if (param.kernel.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel has ", param.kernel.size(), " values, expected 2: (h, w)"));
  }
  if (param.layout == Layout::kDefault || param.layout == Layout::kNCHW) return absl::OkStatus();
  return absl::InvalidArgumentError("layout has to be NCHW, since kernel has two values");
}

// The shape rule of both operators: those of Convolution for data, weight, bias and output; offset
// and mask have the positions of the output.
absl::Status SetShapes(const DeformableConvolutionParam& param, bool has_mask, int weight,
                       ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  for (const int input : {kOffset, kMask}) {
    if ((input == kMask && !has_mask) || c.input(input).rank() != 4) continue;
    COOPER_RETURN_IF_ERROR(
        c.SetInput(0, {c.input(input)[0], kUnknownDim, kUnknownDim, kUnknownDim}));
  }
  COOPER_RETURN_IF_ERROR(ConvolutionShape(param, c, weight));
  const PartialShape &data = c.input(0), &output = c.output(0);
  if (!data.rank_known() || !output.rank_known()) return absl::OkStatus();
  if (data[1] != kUnknownDim && data[1] % param.num_deformable_group != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_deformable_group ", param.num_deformable_group, " does not divide the ",
                     data[1], " channels of input 'data' ", data.ToString()));
  }
  const int64_t elements =
      ExtentProduct(ExtentProduct(param.kernel[0], param.kernel[1]), param.num_deformable_group);
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kOffset, {output[0], ExtentProduct(elements, 2), output[2], output[3]},
                 "(batch_size, num_deformable_group * kernel elements * 2, out height, out "
                 "width)"));
  if (!has_mask) return absl::OkStatus();
  return c.SetInput(kMask, {output[0], elements, output[2], output[3]},
                    "(batch_size, num_deformable_group * kernel elements, out height, out width)");
}

absl::Status DeformableShape(ShapeContext& c) {
  return SetShapes(c.param<DeformableConvolutionParam>(), false,
                   DeformableConvolutionArrays::kWeight, c);
}

absl::Status ModulatedShape(ShapeContext& c) {
  return SetShapes(c.param<ModulatedDeformableConvolutionParam>(), true,
                   ModulatedDeformableConvolutionArrays::kWeight, c);
}

// Appends bias, unless there is none, to the names of inputs or of gradients.
template <typename Param>
OpSchema::Names WithBias(const OpCall& call, OpSchema::Names names) {
  if (!call.param<Param>().no_bias) names.push_back("bias");
  return names;
}

OpSchema::Names DeformableInputs(const OpCall& call) {
  return WithBias<DeformableConvolutionParam>(call, {"data", "offset", "weight"});
}

OpSchema::Names ModulatedInputs(const OpCall& call) {
  return WithBias<ModulatedDeformableConvolutionParam>(call, {"data", "offset", "mask", "weight"});
}

absl::StatusOr<std::vector<NodeEntry>> DeformableGradient(GradientContext& c) {
  using enum DeformableConvolutionArrays::Input;
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward__contrib_DeformableConvolution",
                    {head, c.input(kData), c.input(kOffset), c.input(kWeight)});
}

absl::StatusOr<std::vector<NodeEntry>> ModulatedGradient(GradientContext& c) {
  using enum ModulatedDeformableConvolutionArrays::Input;
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward__contrib_ModulatedDeformableConvolution",
                    {head, c.input(kData), c.input(kOffset), c.input(kMask), c.input(kWeight)});
}

COOPER_REGISTER_OP(_contrib_DeformableConvolution)
    .Describe(
        "Convolution of two spatial axes whose windows take elements at positions shifted by "
        "offset, interpolated between pixels.")
    .Param<DeformableConvolutionParam>()
    .Inputs(DeformableInputs)
    .Shape(DeformableShape)
    .Type(SameType)
    .Gradient(DeformableGradient)
    .Kind(OpKind::kLayer)
    .Summary(WindowSummary);

COOPER_REGISTER_OP(_backward__contrib_DeformableConvolution)
    .Describe("Gradients of _contrib_DeformableConvolution with respect to its inputs.")
    .Param<DeformableConvolutionParam>()
    .Inputs({"ograd", "data", "offset", "weight"})
    .Outputs(DeformableInputs)
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(_contrib_ModulatedDeformableConvolution)
    .Describe(
        "Convolution of two spatial axes whose windows take elements at positions shifted by "
        "offset, interpolated between pixels and multiplied by mask.")
    .Param<ModulatedDeformableConvolutionParam>()
    .Inputs(ModulatedInputs)
    .Shape(ModulatedShape)
    .Type(SameType)
    .Gradient(ModulatedGradient)
    .Kind(OpKind::kLayer)
    .Summary(WindowSummary);

COOPER_REGISTER_OP(_backward__contrib_ModulatedDeformableConvolution)
    .Describe("Gradients of _contrib_ModulatedDeformableConvolution with respect to its inputs.")
    .Param<ModulatedDeformableConvolutionParam>()
    .Inputs({"ograd", "data", "offset", "mask", "weight"})
    .Outputs(ModulatedInputs)
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_contrib_DeformableConvolution, {{"kernel", "(3, 3)"}, {"num_filter", "4"}},
                  {{1, 2, 7, 7}, {1, 18, 5, 5}, {4, 2, 3, 3}, {4}});
COOPER_OP_EXAMPLE(_contrib_ModulatedDeformableConvolution,
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}},
                  {{1, 2, 7, 7}, {1, 18, 5, 5}, {1, 9, 5, 5}, {4, 2, 3, 3}, {4}});

}  // namespace
}  // namespace cooper
