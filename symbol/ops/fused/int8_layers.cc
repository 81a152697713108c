// The int8 layers that MXNet fuses for oneDNN. MXNet: src/operator/subgraph/mkldnn/mkldnn_conv.cc,
// mkldnn_fc.cc, mkldnn_transformer.cc.
//
// _sg_mkldnn_conv and _sg_mkldnn_fully_connected have no kernels: executors replace them by the
// operators of int8_parts.cc, so that weights are quantized once where they do not change.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/int8_layer.h"
#include "symbol/ops/fused/int8_layer_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/convolution_shape.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

constexpr int kData = 0;

// Returns the parts of a call. Fails for a call without a graph, which only code that skips
// CheckSubgraphs makes.
absl::StatusOr<Int8Layer> PartsOf(const OpCall& call) {
  if (call.subgraphs == nullptr) return call.op->CheckSubgraphs(call);
  return ReadInt8Layer(call);
}

template <typename Param>
absl::Status CheckIsQuantized(const OpCall& call) {
  if (call.param<Param>().quantized) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "quantized is not true: such a layer is loaded as the nodes of its subgraph");
}

template <typename Param>
absl::Status CheckLayer(const OpCall& call) {
  COOPER_RETURN_IF_ERROR(CheckIsQuantized<Param>(call));
  return ReadInt8Layer(call).status();
}

void AddRange(const char* array, OpSchema::Names& names) {
  names.push_back(absl::StrCat("min_", array));
  names.push_back(absl::StrCat("max_", array));
}

OpSchema::Names ConvolutionLayerInputs(const OpCall& call) {
  OpSchema::Names names = {"data", "weight"};
  const absl::StatusOr<Int8Layer> parts = PartsOf(call);
  if (!parts.ok()) return names;
  if (!parts->layer->call().param<ConvolutionParam>().no_bias) names.emplace_back("bias");
  if (parts->batch_norm != nullptr) {
    names.insert(names.end(), {"gamma", "beta", "mean", "var"});
  }
  if (parts->sum) names.emplace_back("sum");
  names.insert(names.end(), {"data_min", "data_max"});
  if (parts->sum) names.insert(names.end(), {"sum_min", "sum_max"});
  return names;
}

// Returns mean and var of a BatchNorm.
std::vector<int> ConvolutionLayerAuxInputs(const OpCall& call) {
  const absl::StatusOr<Int8Layer> parts = PartsOf(call);
  if (!parts.ok() || parts->batch_norm == nullptr) return {};
  const int gamma = parts->layer->call().param<ConvolutionParam>().no_bias ? 2 : 3;
  return {gamma + 2, gamma + 3};
}

// Returns the input that is added; -1 if there is none.
int SumOf(const Int8Layer& parts, int num_inputs) { return parts.sum ? num_inputs - 5 : -1; }

// Shape rule: that of Convolution; the arrays of BatchNorm are (num_filter,), the sum has the shape
// of the output.
absl::Status ConvolutionLayerShape(ShapeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const Int8Layer parts, PartsOf(c.call()));
  const auto& param = parts.layer->call().param<ConvolutionParam>();
  const int sum = SumOf(parts, c.num_inputs());
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, c.num_inputs() - (parts.sum ? 4 : 2)));
  COOPER_RETURN_IF_ERROR(ConvolutionShape(param, c));
  if (parts.batch_norm != nullptr) {
    const int gamma = param.no_bias ? 2 : 3;
    for (int i = gamma; i < gamma + 4; ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, {param.num_filter}, "(num_filter,)"));
    }
  }
  if (sum < 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(sum, c.output(0), "as the output"));
  return c.SetOutput(0, c.input(sum), "as the sum");
}

// Returns the dtype of output 0.
template <typename Param>
DType OutputType(const Param& param, const Int8Layer& parts) {
  if (!param.is_calibrated()) return DType::kInt32;
  return parts.is_uint8 ? DType::kUint8 : DType::kInt8;
}

// Type rule: data and sum are 8-bit integers, all other inputs float32.
absl::Status ConvolutionLayerType(TypeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const Int8Layer parts, PartsOf(c.call()));
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (i == SumOf(parts, c.num_inputs())) continue;
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, c.num_inputs()));
  return c.SetOutput(0, OutputType(c.param<Int8ConvolutionLayerParam>(), parts));
}

OpSchema::Names DenseLayerInputs(const OpCall& call) {
  OpSchema::Names names = {"data", "weight"};
  const absl::StatusOr<Int8Layer> parts = PartsOf(call);
  if (!parts.ok()) return names;
  const bool has_bias = !parts->layer->call().param<FullyConnectedParam>().no_bias;
  if (has_bias) names.emplace_back("bias");
  AddRange("data", names);
  if (call.param<Int8DenseLayerParam>().by_filter()) return names;
  AddRange("weight", names);
  if (has_bias) AddRange("bias", names);
  return names;
}

template <typename Param>
OpSchema::Names RangedOutputs(const OpCall& call) {
  if (call.param<Param>().enable_float_output) return {"output"};
  return {"output", "min_output", "max_output"};
}

absl::Status DenseLayerShape(ShapeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const Int8Layer parts, PartsOf(c.call()));
  const auto& param = parts.layer->call().param<FullyConnectedParam>();
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, param.no_bias ? 2 : 3));
  return QuantizedDenseShape(param, c);
}

// Type rule: data is of 8-bit integers; weight and bias are int8, or float32 if they are quantized
// by filter.
absl::Status DenseLayerType(TypeContext& c) {
  const auto& param = c.param<Int8DenseLayerParam>();
  COOPER_ASSIGN_OR_RETURN(const Int8Layer parts, PartsOf(c.call()));
  const int arrays = parts.layer->call().param<FullyConnectedParam>().no_bias ? 2 : 3;
  for (int i = 1; i < arrays; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, param.by_filter() ? DType::kFloat32 : DType::kInt8));
  }
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, arrays));
  return c.SetOutput(0, param.enable_float_output ? DType::kFloat32 : OutputType(param, parts));
}

absl::Status CheckAttention(const OpCall& call) {
  COOPER_RETURN_IF_ERROR(CheckIsQuantized<Int8AttentionParam>(call));
  const std::vector<NodeEntry>& outputs = call.subgraphs->front();
  const std::string op = call.op->name() == "_sg_mkldnn_selfatt_qk"
                             ? "_contrib_interleaved_matmul_selfatt_qk"
                             : "_contrib_interleaved_matmul_selfatt_valatt";
  if (outputs.size() == 1 && IsOp(*outputs[0].node, op)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the subgraph is not one node of ", op));
}

// Sets the shapes of the attention weights and of the attended values, as far as they follow from
// that of queries_keys_values.
absl::Status AttentionShapes(ShapeContext& c, PartialShape& attention, PartialShape& values) {
  const int64_t heads = c.param<Int8AttentionParam>().heads;
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, PartialShape::OfRank(3), "(length, batch_size, heads * 3 * head_dim)"));
  const PartialShape& data = c.input(kData);
  if (data.dim_known(2) && data[2] % (3 * heads) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("queries_keys_values ", data.ToString(), ": extent ", data[2],
                     " of axis 2, expected a multiple of ", 3 * heads, " = heads * 3"));
  }
  attention = {ExtentProduct(data[1], heads), data[0], data[0]};
  values = {data[0], data[1], data.dim_known(2) ? data[2] / 3 : kUnknownDim};
  return absl::OkStatus();
}

absl::Status QkShape(ShapeContext& c) {
  PartialShape attention, values;
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, Int8QkArrays::kMin));
  COOPER_RETURN_IF_ERROR(AttentionShapes(c, attention, values));
  return c.SetOutput(0, attention, "(batch_size * heads, length, length)");
}

absl::Status ValuesShape(ShapeContext& c) {
  PartialShape attention, values;
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, Int8ValuesArrays::kMin));
  COOPER_RETURN_IF_ERROR(AttentionShapes(c, attention, values));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(Int8ValuesArrays::kAttention, attention, "(batch_size * heads, length, length)"));
  return c.SetOutput(0, values, "(length, batch_size, heads * head_dim)");
}

absl::Status SetAttentionTypes(TypeContext& c, int first_range) {
  const auto& param = c.param<Int8AttentionParam>();
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, DType::kInt8));
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, first_range));
  return c.SetOutput(0, param.enable_float_output ? DType::kFloat32
                        : param.is_calibrated()   ? DType::kInt8
                                                  : DType::kInt32);
}

absl::Status QkType(TypeContext& c) { return SetAttentionTypes(c, Int8QkArrays::kMin); }

absl::Status ValuesType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(Int8ValuesArrays::kAttention, DType::kUint8));
  return SetAttentionTypes(c, Int8ValuesArrays::kMin);
}

// Gives attributes of older files their names in MXNet 1.9.1.
OpSchema::AttrsFn Renames(std::vector<std::pair<const char*, const char*>> names) {
  return [names](AttrMap& attrs) {
    for (const auto& [from, to] : names) {
      const auto old = attrs.find(from);
      if (old == attrs.end()) continue;
      attrs[to] = old->second;
      attrs.erase(old);
    }
    return absl::OkStatus();
  };
}

COOPER_REGISTER_OP(_sg_mkldnn_conv)
    .Describe(
        "Convolution of 8-bit integers, with BatchNorm, the addition of an array and an "
        "activation: 8-bit or 32-bit integers, and their range.")
    .Param<Int8ConvolutionLayerParam>()
    .Inputs(ConvolutionLayerInputs)
    .AuxInputs(ConvolutionLayerAuxInputs)
    .Outputs({"output", "output_min", "output_max"})
    .Subgraphs(1, CheckLayer<Int8ConvolutionLayerParam>)
    .FixAttrs(Renames({{"with_relu", "with_act"}, {"with_postsum_relu", "with_postsum_act"}}))
    .Shape(ConvolutionLayerShape)
    .Type(ConvolutionLayerType)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_sg_mkldnn_fully_connected)
    .Describe(
        "FullyConnected of 8-bit integers, with an activation: 8-bit or 32-bit integers and "
        "their range, or float32.")
    .Param<Int8DenseLayerParam>()
    .Inputs(DenseLayerInputs)
    .Outputs(RangedOutputs<Int8DenseLayerParam>)
    .Subgraphs(1, CheckLayer<Int8DenseLayerParam>)
    .FixAttrs(Renames({{"with_relu", "with_eltwise"}}))
    .Shape(DenseLayerShape)
    .Type(DenseLayerType)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_sg_mkldnn_selfatt_qk)
    .Describe("_contrib_interleaved_matmul_selfatt_qk of int8 integers.")
    .Param<Int8AttentionParam>()
    .Inputs({"queries_keys_values", "min_qkv", "max_qkv"})
    .Outputs(RangedOutputs<Int8AttentionParam>)
    .Subgraphs(1, CheckAttention)
    .Shape(QkShape)
    .Type(QkType);

COOPER_REGISTER_OP(_sg_mkldnn_selfatt_valatt)
    .Describe("_contrib_interleaved_matmul_selfatt_valatt of int8 and uint8 integers.")
    .Param<Int8AttentionParam>()
    .Inputs({"queries_keys_values", "attention", "min_qkv", "max_qkv", "min_attention",
             "max_attention"})
    .Outputs(RangedOutputs<Int8AttentionParam>)
    .Subgraphs(1, CheckAttention)
    .Shape(ValuesShape)
    .Type(ValuesType);

}  // namespace
}  // namespace cooper
