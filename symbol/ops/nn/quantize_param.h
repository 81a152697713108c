#ifndef COOPER_SYMBOL_OPS_NN_QUANTIZE_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_QUANTIZE_PARAM_H_

// Arrays and parameters of the operators that convert between float32 and 8-bit integers, and of
// sums and products of quantized arrays. A quantized array comes with two arrays (1,) of float32,
// the range [min, max] of the numbers that it stands for. With r = max(|min|, |max|), an element q
// stands for q * r / 127.5 in int8, q * r / 255.5 in uint8, and q * r / 2^31 in int32, as in MXNet
// with oneDNN. The schemas are in quantize.cc and quantized_*.cc, the arithmetic in
// executor/kernels/quantized/quantized_scale.h. No operator on quantized arrays has a gradient.
// MXNet: src/operator/quantization.

#include <cstdint>
#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The outputs of all operators that return a quantized array.
struct QuantizedOutputs {
  enum Output { kOutput, kMin, kMax };
};

// Inputs of _contrib_dequantize, _contrib_requantize and _contrib_quantized_{act, flatten,
// pooling}: a quantized array and its range. Those of _contrib_quantize: a float32 array, and the
// range of the output.
struct QuantizedArrays {
  enum Input { kData, kMin, kMax };
};

// Inputs of _contrib_quantized_elemwise_add and _contrib_quantized_elemwise_mul: arrays of one
// shape, int8 or, for the sum, uint8, and their ranges.
struct QuantizedPairArrays {
  enum Input { kLhs, kRhs, kLhsMin, kLhsMax, kRhsMin, kRhsMax };
};

// Inputs of _contrib_quantized_batch_norm: those of BatchNorm with data of 8-bit integers, and the
// range of data. The range of the output is calibrated; gamma is used even with fix_gamma, as in
// MXNet.
struct QuantizedBatchNormArrays {
  enum Input { kData, kGamma, kBeta, kMovingMean, kMovingVar, kMinData, kMaxData };
};

// Inputs of _contrib_quantized_embedding: those of Embedding with an int8 weight, and its range,
// which is that of the output too.
struct QuantizedEmbeddingArrays {
  enum Input { kData, kWeight, kMinWeight, kMaxWeight };
};

// The dtype of a quantized array. kAuto is uint8 if min_calib_range is not negative, else int8.
enum class QuantizedType : uint8_t { kAuto, kInt8, kUint8 };

// The range of an output, measured on data before the model was saved. Both numbers count as absent
// unless both are present.
struct CalibrationParam {
  std::optional<float> min_calib_range;
  std::optional<float> max_calib_range;

  bool is_calibrated() const { return min_calib_range.has_value() && max_calib_range.has_value(); }

  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<std::optional<float>>("min_calib_range", &P::min_calib_range)
        .Doc("least number of the output; by the data itself if absent");
    d.template Field<std::optional<float>>("max_calib_range", &P::max_calib_range)
        .Doc("greatest number of the output; by the data itself if absent");
  }

  static void Declare(ParamDeclaration<CalibrationParam>& d) { DeclareFields(d); }
};

// Parameters of _contrib_quantize_v2, whose input is float32, or already of the type of the output,
// and of _contrib_requantize, whose input is int32.
struct QuantizeParam : CalibrationParam {
  QuantizedType out_type = QuantizedType::kInt8;

  // Returns whether the output is uint8 rather than int8.
  bool is_unsigned() const {
    if (out_type != QuantizedType::kAuto) return out_type == QuantizedType::kUint8;
    return is_calibrated() && *min_calib_range >= 0;
  }

  static void Declare(ParamDeclaration<QuantizeParam>& d) {
    d.Enum("out_type", &QuantizeParam::out_type,
           {{"auto", QuantizedType::kAuto},
            {"int8", QuantizedType::kInt8},
            {"uint8", QuantizedType::kUint8}})
        .Doc("dtype of the output; auto: uint8 if min_calib_range is not negative, else int8");
    DeclareFields(d);
  }
};

// Parameters of _contrib_quantize, whose range is an input.
struct QuantizeToRangeParam {
  QuantizedType out_type = QuantizedType::kUint8;

  static void Declare(ParamDeclaration<QuantizeToRangeParam>& d) {
    d.Enum("out_type", &QuantizeToRangeParam::out_type,
           {{"int8", QuantizedType::kInt8}, {"uint8", QuantizedType::kUint8}})
        .Doc("dtype of the output");
  }
};

// Parameters of _contrib_quantized_elemwise_mul. The output is float32 without a range if
// enable_float_output is set, int8 if a range is calibrated, else int32.
struct QuantizedProductParam : CalibrationParam {
  bool enable_float_output = false;

  static void Declare(ParamDeclaration<QuantizedProductParam>& d) {
    DeclareFields(d);
    d.Field("enable_float_output", &QuantizedProductParam::enable_float_output)
        .Doc("whether the output is float32, without a range");
  }
};

// Parameters of _contrib_dequantize. The output is always float32.
struct DequantizeParam {
  enum OutType { kFloat32 };
  OutType out_type = kFloat32;

  static void Declare(ParamDeclaration<DequantizeParam>& d) {
    d.Enum("out_type", &DequantizeParam::out_type, {{"float32", kFloat32}})
        .Doc("dtype of the output");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_QUANTIZE_PARAM_H_
