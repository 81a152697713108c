// The operators by which executors replace the int8 layers that MXNet fuses for oneDNN. No file has
// them.

#include <cstdint>
#include <vector>

#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/int8_parts_param.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum Int8LayerArrays::Input;

OpSchema::Names WeightInputs(const OpCall& call) {
  const auto& param = call.param<QuantizedWeightParam>();
  OpSchema::Names names = {"weight"};
  if (!param.no_bias) names.emplace_back("bias");
  if (param.batch_norm) names.insert(names.end(), {"gamma", "beta", "mean", "var"});
  if (param.is_int8) names.insert(names.end(), {"min_weight", "max_weight"});
  if (param.is_int8 && !param.no_bias) names.insert(names.end(), {"min_bias", "max_bias"});
  return names;
}

// Returns mean and var, which are auxiliary states of the layer that is replaced; they are only
// read.
std::vector<int> WeightAuxInputs(const OpCall& call) {
  const QuantizedWeightInputs in(call.param<QuantizedWeightParam>());
  if (in.mean < 0) return {};
  return {in.mean, in.var};
}

// Shape rule: weight and output 0 have one shape; ranges are (1,), all other arrays (filters,).
absl::Status QuantizedWeightShape(ShapeContext& c) {
  const auto& param = c.param<QuantizedWeightParam>();
  if (param.is_int8 && param.batch_norm) {
    return absl::InvalidArgumentError("batch_norm, which cannot be folded into an int8 weight");
  }
  const QuantizedWeightInputs in(param);
  COOPER_RETURN_IF_ERROR(c.SetInput(in.weight, c.output(QuantizedWeightOutputs::kWeight)));
  const PartialShape& weight = c.input(in.weight);
  const int ranges = param.is_int8 ? in.weight_min : in.count;
  for (int i = ranges; i < in.count; ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, {1}, "(1,)"));
  if (!weight.rank_known()) return absl::OkStatus();
  if (weight.rank() == 0) return absl::InvalidArgumentError("input 'weight' is a scalar");
  for (int i = 1; i < ranges; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, {weight[0]}, "(filters,)"));
  }
  for (const int output : {QuantizedWeightOutputs::kScale, QuantizedWeightOutputs::kBias}) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, {weight[0]}, "(filters,)"));
  }
  return c.SetOutput(QuantizedWeightOutputs::kWeight, weight);
}

absl::Status QuantizedWeightType(TypeContext& c) {
  const auto& param = c.param<QuantizedWeightParam>();
  const int arrays = param.no_bias ? 1 : 2;
  for (int i = 0; i < arrays; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, param.is_int8 ? DType::kInt8 : DType::kFloat32));
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(QuantizedWeightOutputs::kWeight, DType::kInt8));
  return SetRangeTypes(c, arrays);
}

// Returns the names of the inputs, with or without those of the sum.
OpSchema::Names LayerInputs(bool sum) {
  OpSchema::Names names = {"data", "weight", "scale", "bias", "min_data", "max_data"};
  if (sum) names.insert(names.end(), {"sum", "min_sum", "max_sum"});
  return names;
}

template <typename Param>
OpSchema::Names LayerOutputs(const OpCall& call) {
  if (call.param<Param>().out_type == DType::kFloat32) return {"output"};
  return {"output", "min_output", "max_output"};
}

// Sets the shapes of scale and bias, (filters,), and of the ranges.
absl::Status SetLayerShapes(ShapeContext& c, int64_t filters) {
  for (const int input : {kScale, kBias}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(input, {filters}, "(filters,)"));
  }
  for (const int input : {kMin, kMax, kMinSum, kMaxSum}) {
    if (input < c.num_inputs()) COOPER_RETURN_IF_ERROR(c.SetInput(input, {1}, "(1,)"));
  }
  return SetRangeShapes(c, c.num_inputs());
}

absl::Status Int8ConvolutionShape(ShapeContext& c) {
  const auto& param = c.param<Int8ConvolutionParam>();
  if (ChannelsLast(param.layout) || !param.no_bias) {
    return absl::InvalidArgumentError("layout has to have channels first, and no_bias to be true");
  }
  COOPER_RETURN_IF_ERROR(SetLayerShapes(c, param.num_filter));
  COOPER_RETURN_IF_ERROR(ConvolutionShape(param, c));
  return param.sum ? c.SetInput(kSum, c.output(0), "as the output") : absl::OkStatus();
}

absl::Status Int8DenseShape(ShapeContext& c) {
  const auto& param = c.param<Int8DenseParam>();
  if (!param.no_bias) return absl::InvalidArgumentError("no_bias has to be true");
  COOPER_RETURN_IF_ERROR(SetLayerShapes(c, param.num_hidden));
  return QuantizedDenseShape(param, c);
}

template <typename Param>
absl::Status Int8LayerType(TypeContext& c) {
  const auto& param = c.param<Param>();
  const bool is_8_bit = param.out_type == DType::kInt8 || param.out_type == DType::kUint8;
  if (is_8_bit != param.is_calibrated() && param.out_type != DType::kFloat32) {
    return absl::InvalidArgumentError("out_type is that of a calibrated range, or there is none");
  }
  if (!is_8_bit && param.out_type != DType::kInt32 && param.out_type != DType::kFloat32) {
    return absl::InvalidArgumentError("out_type has to be int8, uint8, int32 or float32");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, DType::kInt8));
  for (int i = kScale; i < c.num_inputs(); ++i) {
    if (i != kSum) COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, c.num_inputs()));
  return c.SetOutput(0, param.out_type);
}

COOPER_REGISTER_OP(_quantized_weight)
    .Describe("The weight of a layer as int8 integers, with their scales and the bias.")
    .Param<QuantizedWeightParam>()
    .Inputs(WeightInputs)
    .AuxInputs(WeightAuxInputs)
    .Outputs({"weight", "scale", "bias"})
    .Shape(QuantizedWeightShape)
    .Type(QuantizedWeightType);

COOPER_REGISTER_OP(_int8_convolution)
    .Describe("Convolution of 8-bit integers, an addition and an activation in one.")
    .Param<Int8ConvolutionParam>()
    .Inputs([](const OpCall& call) { return LayerInputs(call.param<Int8ConvolutionParam>().sum); })
    .Outputs(LayerOutputs<Int8ConvolutionParam>)
    .Shape(Int8ConvolutionShape)
    .Type(Int8LayerType<Int8ConvolutionParam>)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_int8_fully_connected)
    .Describe("FullyConnected of 8-bit integers and an activation in one.")
    .Param<Int8DenseParam>()
    .Inputs([](const OpCall&) { return LayerInputs(/*sum=*/false); })
    .Outputs(LayerOutputs<Int8DenseParam>)
    .Shape(Int8DenseShape)
    .Type(Int8LayerType<Int8DenseParam>)
    .Kind(OpKind::kLayer);

COOPER_OP_EXAMPLE(_quantized_weight, {}, {{4, 3}, {}});
COOPER_OP_EXAMPLE(_int8_convolution,
                  {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"no_bias", "True"}},
                  {{1, 2, 7, 7}, {}, {}, {}, {}, {}});
COOPER_OP_EXAMPLE(_int8_fully_connected, {{"num_hidden", "4"}, {"no_bias", "True"}},
                  {{2, 3}, {}, {}, {}, {}, {}});

}  // namespace
}  // namespace cooper
