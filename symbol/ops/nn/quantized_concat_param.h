#ifndef COOPER_SYMBOL_OPS_NN_QUANTIZED_CONCAT_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_QUANTIZED_CONCAT_PARAM_H_

// Parameters of _contrib_quantized_concat. The schema is in quantized_concat.cc. MXNet:
// src/operator/quantization/quantized_concat.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: num_args int8 or uint8 arrays, arg0, arg1, ..., and then the minimum and maximum of each
// (quantize_param.h). Output 0 is int8 if an input is, else uint8; its range contains those of the
// inputs and 0, and the inputs are rescaled to it.
struct QuantizedConcatParam {
  // The number of arrays. The limit bounds the inputs of a node from an untrusted file.
  int64_t num_args = 1;
  // The axis along which the arrays are joined; may be negative.
  int64_t dim = 1;

  // Returns the axis of arrays of this rank; it may be out of range.
  int Axis(int rank) const { return static_cast<int>(dim < 0 ? dim + rank : dim); }

  static void Declare(ParamDeclaration<QuantizedConcatParam>& d) {
    d.Field("num_args", &QuantizedConcatParam::num_args)
        .Required()
        .Min(1)
        .Max(65536)
        .Doc("number of arrays");
    d.Field("dim", &QuantizedConcatParam::dim)
        .Min(-64)
        .Max(64)
        .Doc("axis along which the arrays are joined");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_QUANTIZED_CONCAT_PARAM_H_
