#ifndef COOPER_SYMBOL_OPS_FUSED_INT8_PARTS_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_INT8_PARTS_PARAM_H_

// Arrays and parameters of the operators by which executors replace the int8 layers that MXNet
// fuses for oneDNN (int8_layer_param.h): the quantization of a weight, and the layers themselves.
// Symbol files do not contain them. The schemas are in int8_parts.cc.

#include <limits>

#include "ndarray/base/dtype.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Outputs of _quantized_weight, for a weight (filters, ...): the int8 weight, the steps of each
// filter for a number of 1 (filters,), and the float32 bias (filters,).
struct QuantizedWeightOutputs {
  enum Output { kWeight, kScale, kBias };
};

// Parameters of _quantized_weight. Inputs: weight, bias unless no_bias, and the four arrays of
// BatchNorm, all float32; or, with is_int8, an int8 weight and bias, which are kept, and the ranges
// of both. BatchNorm is folded into weight and bias before the weight is quantized.
struct QuantizedWeightParam {
  bool no_bias = false;
  bool batch_norm = false;
  double eps = 1e-3;
  bool fix_gamma = true;
  bool is_int8 = false;
  // Whether each filter has a range of its own; with is_int8 it is that of the inputs.
  bool by_filter = false;

  static void Declare(ParamDeclaration<QuantizedWeightParam>& d) {
    d.Field("no_bias", &QuantizedWeightParam::no_bias).Doc("whether there is no bias input");
    d.Field("batch_norm", &QuantizedWeightParam::batch_norm)
        .Doc("whether a BatchNorm is folded in");
    d.Field("eps", &QuantizedWeightParam::eps).Doc("added to the variance before the root");
    d.Field("fix_gamma", &QuantizedWeightParam::fix_gamma).Doc("whether gamma is 1");
    d.Field("is_int8", &QuantizedWeightParam::is_int8)
        .Doc("whether weight and bias are int8, with ranges");
    d.Field("by_filter", &QuantizedWeightParam::by_filter)
        .Doc("whether each filter has a range of its own");
  }
};

// Indices of the inputs of _quantized_weight; negative: the input does not exist.
struct QuantizedWeightInputs {
  int weight = 0, bias = -1, gamma = -1, beta = -1, mean = -1, var = -1, weight_min = -1,
      bias_min = -1;  // the maximum of a range follows
  int count = 1;

  explicit QuantizedWeightInputs(const QuantizedWeightParam& param) {
    if (!param.no_bias) bias = count++;
    if (param.batch_norm) {
      for (int* input : {&gamma, &beta, &mean, &var}) *input = count++;
    }
    if (!param.is_int8) return;
    weight_min = count;
    count += 2;
    if (param.no_bias) return;
    bias_min = count;
    count += 2;
  }
};

// The end of an int8 layer: numbers below 0 are multiplied by `negative`, those above `limit`
// become it, and the result is written as out_type, int8 or uint8 of the calibrated range, int32 or
// float32.
struct Int8EndParam : CalibrationParam {
  double negative = 1;
  double limit = std::numeric_limits<double>::infinity();
  DType out_type = DType::kInt32;

  template <typename P>
  static void DeclareEnd(ParamDeclaration<P>& d) {
    DeclareFields(d);
    d.template Field<double>("negative", &P::negative).Doc("factor of numbers below 0: 0 is relu");
    d.template Field<double>("limit", &P::limit).Doc("greatest number of the output");
    d.template Field<DType>("out_type", &P::out_type).Doc("dtype of the output");
  }
};

// Inputs of _int8_convolution and _int8_fully_connected: data int8 or uint8, the outputs of
// _quantized_weight, the range of data, and with `sum` the array of 8-bit integers that is added to
// the output of a convolution, and its range.
struct Int8LayerArrays {
  enum Input { kData, kWeight, kScale, kBias, kMin, kMax, kSum, kMinSum, kMaxSum };
};

struct Int8ConvolutionParam : ConvolutionParam, Int8EndParam {
  bool sum = false;

  static void Declare(ParamDeclaration<Int8ConvolutionParam>& d) {
    ConvolutionParam::DeclareFields(d);
    DeclareEnd(d);
    d.Field("sum", &Int8ConvolutionParam::sum).Doc("whether an array is added");
  }
};

struct Int8DenseParam : FullyConnectedParam, Int8EndParam {
  static void Declare(ParamDeclaration<Int8DenseParam>& d) {
    d.Field("num_hidden", &Int8DenseParam::num_hidden).Required().Min(1).Doc("rows of weight");
    d.Field("no_bias", &Int8DenseParam::no_bias).Doc("has to be true");
    d.Field("flatten", &Int8DenseParam::flatten)
        .Doc("whether all axes of data but the first are taken as one");
    DeclareEnd(d);
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_INT8_PARTS_PARAM_H_
