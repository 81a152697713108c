#ifndef COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_PARAM_H_

// Parameters of the int8 layers that MXNet fuses for oneDNN: _sg_mkldnn_conv,
// _sg_mkldnn_fully_connected, _sg_mkldnn_selfatt_qk and _sg_mkldnn_selfatt_valatt with
// quantized=True, as quantize_model writes them. Symbol files alone have them: a call holds the
// graph of the float32 layer that it replaces, from which all but the ranges is read
// (int8_layer.h). Files without quantized=True are loaded as the nodes of that graph. The schemas
// are in int8_layers.cc. MXNet: src/operator/subgraph/mkldnn.

#include <cstdint>
#include <limits>
#include <optional>

#include "symbol/ops/nn/quantize_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of all of them. The output is 8-bit integers if a range is calibrated, else int32.
struct Int8LayerParam : CalibrationParam {
  bool quantized = false;  // true, which shape inference checks

  template <typename P>
  static void DeclareLayer(ParamDeclaration<P>& d) {
    DeclareFields(d);
    d.template Field<bool>("quantized", &P::quantized)
        .Doc("whether the layer computes with 8-bit integers; has to be true");
  }
};

// Parameters of _sg_mkldnn_conv: Convolution, BatchNorm, the addition of an array, an activation.
// Inputs: data int8 or uint8; weight, bias and the four arrays of BatchNorm float32; the addend,
// 8-bit integers; the ranges of data and addend.
struct Int8ConvolutionLayerParam : Int8LayerParam {
  static void Declare(ParamDeclaration<Int8ConvolutionLayerParam>& d) {
    DeclareLayer(d);
    // The graph says which nodes there are.
    for (const char* name : {"with_bn", "with_act", "with_sum", "with_postsum_act"}) {
      d.Ignored<bool>(name);
    }
  }
};

// Parameters of _sg_mkldnn_fully_connected: FullyConnected and an activation.
struct Int8DenseLayerParam : Int8LayerParam {
  // Whether the output is float32, without a range.
  bool enable_float_output = false;
  // Whether weight and bias are float32, to be quantized by filter. Otherwise they are int8, and
  // their ranges follow that of data.
  std::optional<bool> channel_wise_quantize;

  bool by_filter() const { return channel_wise_quantize.value_or(false); }

  static void Declare(ParamDeclaration<Int8DenseLayerParam>& d) {
    DeclareLayer(d);
    d.Field("enable_float_output", &Int8DenseLayerParam::enable_float_output)
        .Doc("whether the output is float32, without a range");
    d.Field("channel_wise_quantize", &Int8DenseLayerParam::channel_wise_quantize)
        .Doc("whether the weight is float32, and each filter has a range of its own");
    d.Ignored<bool>("with_eltwise");
  }
};

// Inputs of _sg_mkldnn_selfatt_qk, int8, and of _sg_mkldnn_selfatt_valatt, int8 and uint8.
struct Int8QkArrays {
  enum Input { kQueriesKeysValues, kMin, kMax };
};
struct Int8ValuesArrays {
  enum Input { kQueriesKeysValues, kAttention, kMin, kMax, kMinAttention, kMaxAttention };
};

// Parameters of both: _contrib_interleaved_matmul_selfatt_qk and _valatt of 8-bit integers.
struct Int8AttentionParam : Int8LayerParam {
  int64_t heads = 0;
  // Whether the output is float32, without a range.
  bool enable_float_output = false;

  static void Declare(ParamDeclaration<Int8AttentionParam>& d) {
    DeclareLayer(d);
    d.Field("heads", &Int8AttentionParam::heads)
        .Required()
        .Min(1)
        .Max(std::numeric_limits<int32_t>::max())
        .Doc("number of heads");
    d.Field("enable_float_output", &Int8AttentionParam::enable_float_output)
        .Doc("whether the output is float32, without a range");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_INT8_LAYER_PARAM_H_
