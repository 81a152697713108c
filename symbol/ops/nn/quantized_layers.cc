// Layers of 8-bit integers. MXNet: src/operator/quantization/quantized_*.cc.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

constexpr int kData = 0, kWeight = 1;

// Returns data, weight and, unless no_bias, bias, followed by the minimum and maximum of each.
template <typename Param>
OpSchema::Names LayerInputs(const OpCall& call) {
  OpSchema::Names names = {"data", "weight"};
  if (!call.param<Param>().no_bias) names.emplace_back("bias");
  const size_t arrays = names.size();
  for (size_t i = 0; i < arrays; ++i) {
    const std::string name = names[i];
    names.push_back("min_" + name);
    names.push_back("max_" + name);
  }
  return names;
}

// Type rule of layers with a weight: data int8 or uint8, weight and bias int8, output int32.
template <typename Param>
absl::Status LayerType(TypeContext& c) {
  const int arrays = c.param<Param>().no_bias ? 2 : 3;
  for (int i = kWeight; i < arrays; ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kInt8));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, DType::kInt32));
  return SetRangeTypes(c, arrays);
}

absl::Status QuantizedConvolutionShape(ShapeContext& c) {
  const auto& param = c.param<ConvolutionParam>();
  if (param.num_group != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_group is ", param.num_group, ", expected 1, as in MXNet"));
  }
  if (ChannelsLast(param.layout)) {
    return absl::InvalidArgumentError("layout has to be NCHW or NCDHW, as in MXNet");
  }
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, param.no_bias ? 2 : 3));
  return ConvolutionShape(param, c);
}

absl::Status QuantizedFullyConnectedShape(ShapeContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, param.no_bias ? 2 : 3));
  return QuantizedDenseShape(param, c);
}

absl::Status QuantizedActivationShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, QuantizedArrays::kMin));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  return c.SetOutput(0, c.input(kData));
}

absl::Status QuantizedActivationType(TypeContext& c) {
  if (c.param<ActivationParam>().act_type != ActivationType::kRelu) {
    return absl::InvalidArgumentError("act_type has to be relu");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, DType::kInt8));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, DType::kInt8));
  return SetRangeTypes(c, QuantizedArrays::kMin);
}

// Shape rule: data (batch_size, ...), output (batch_size, elements).
absl::Status QuantizedFlattenShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, QuantizedArrays::kMin));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  const int64_t elements =
      data.rank() == 1 ? 1 : PartialShape(data.dims().subspan(1)).num_elements();
  return c.SetOutput(0, {data[0], elements}, "(batch_size, elements)");
}

absl::Status QuantizedFlattenType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  return SetRangeTypes(c, QuantizedArrays::kMin);
}

// Shape rule of sums and products: lhs, rhs and output 0 have one shape.
absl::Status QuantizedPairShape(ShapeContext& c) {
  using enum QuantizedPairArrays::Input;
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, kLhsMin));
  for (const int input : {kLhs, kRhs}) COOPER_RETURN_IF_ERROR(c.SetInput(input, c.output(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kRhs, c.input(kLhs)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kLhs, c.input(kRhs)));
  return c.SetOutput(0, c.input(kLhs));
}

// Type rule: output 0 is int32 or, with a calibrated range, of the type of both inputs, int8 if
// they differ.
absl::Status QuantizedSumType(TypeContext& c) {
  using enum QuantizedPairArrays::Input;
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, kLhsMin));
  if (!c.param<CalibrationParam>().is_calibrated()) return c.SetOutput(0, DType::kInt32);
  if (!c.input(kLhs).has_value() || !c.input(kRhs).has_value()) return absl::OkStatus();
  return c.SetOutput(0, c.input(kLhs) == c.input(kRhs) ? *c.input(kLhs) : DType::kInt8);
}

absl::Status QuantizedProductType(TypeContext& c) {
  using enum QuantizedPairArrays::Input;
  const auto& param = c.param<QuantizedProductParam>();
  for (const int input : {kLhs, kRhs}) COOPER_RETURN_IF_ERROR(c.SetInput(input, DType::kInt8));
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, kLhsMin));
  return c.SetOutput(0, param.enable_float_output ? DType::kFloat32
                        : param.is_calibrated()   ? DType::kInt8
                                                  : DType::kInt32);
}

COOPER_REGISTER_OP(_contrib_quantized_conv)
    .Describe("Convolution of 8-bit integers: 32-bit integers and their range.")
    .Param<ConvolutionParam>()
    .Inputs(LayerInputs<ConvolutionParam>)
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedConvolutionShape)
    .Type(LayerType<ConvolutionParam>)
    .Kind(OpKind::kLayer)
    .Summary(WindowSummary);

COOPER_REGISTER_OP(_contrib_quantized_fully_connected)
    .Describe("FullyConnected of 8-bit integers: 32-bit integers and their range.")
    .Param<FullyConnectedParam>()
    .Inputs(LayerInputs<FullyConnectedParam>)
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedFullyConnectedShape)
    .Type(LayerType<FullyConnectedParam>)
    .Kind(OpKind::kLayer)
    .Summary("num_hidden");

COOPER_REGISTER_OP(_contrib_quantized_act)
    .Describe("The greater of 0 and each element of 8-bit integers, with their range.")
    .Param<ActivationParam>()
    .Inputs({"data", "min_data", "max_data"})
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedActivationShape)
    .Type(QuantizedActivationType)
    .Kind(OpKind::kActivation);

COOPER_REGISTER_OP(_contrib_quantized_flatten)
    .Describe("8-bit integers with all axes but the first as one, with their range.")
    .Inputs({"data", "min_data", "max_data"})
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedFlattenShape)
    .Type(QuantizedFlattenType)
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_contrib_quantized_elemwise_add)
    .Describe("The sum of 8-bit integers of two ranges, and its range.")
    .Param<CalibrationParam>()
    .Inputs({"lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"})
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedPairShape)
    .Type(QuantizedSumType);

COOPER_REGISTER_OP(_contrib_quantized_elemwise_mul)
    .Describe("The product of int8 integers of two ranges, and its range.")
    .Param<QuantizedProductParam>()
    .Inputs({"lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"})
    .Outputs([](const OpCall& call) -> OpSchema::Names {
      if (call.param<QuantizedProductParam>().enable_float_output) return {"output"};
      return {"output", "min_output", "max_output"};
    })
    .Shape(QuantizedPairShape)
    .Type(QuantizedProductType);

COOPER_OP_EXAMPLE(_contrib_quantized_conv,
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"no_bias", "True"}},
                  {{1, 2, 7, 7}, {4, 2, 3, 3}, {1}, {1}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantized_fully_connected, {{"num_hidden", "4"}, {"no_bias", "True"}},
                  {{2, 3}, {4, 3}, {1}, {1}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantized_act, {{"act_type", "relu"}}, {{2, 3}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantized_flatten, {}, {{2, 3, 4}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantized_elemwise_add, {}, {{2, 3}, {2, 3}, {1}, {1}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantized_elemwise_mul, {}, {{2, 3}, {2, 3}, {1}, {1}, {1}, {1}});

}  // namespace
}  // namespace cooper
