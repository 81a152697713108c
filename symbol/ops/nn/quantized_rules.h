#ifndef COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_
#define COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_

// Sets the shapes and dtypes of ranges in the rules of operators on quantized arrays: a range is
// two float32 arrays of shape (1,). Outputs 1 and 2 are the range of output 0. Also the shape rule
// that dense layers share.

#include <cstdint>

#include "absl/status/status.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// Sets the shapes of the inputs from `first` on, which are ranges, and of the range of output 0 if
// there is one. Fails with kInvalidArgument, naming the array, for other shapes.
inline absl::Status SetRangeShapes(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, {1}, "(1,)"));
  }
  for (int output = QuantizedOutputs::kMin; output < c.num_outputs(); ++output) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, {1}, "(1,)"));
  }
  return absl::OkStatus();
}

// Sets the dtypes of the inputs from `first` on, which are ranges, and of the range of output 0 if
// there is one. Fails with kInvalidArgument, naming the array, for other dtypes. A range is float32
// whatever the dtype of its array is.
inline absl::Status SetRangeTypes(TypeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  for (int output = QuantizedOutputs::kMin; output < c.num_outputs(); ++output) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, DType::kFloat32));
  }
  return absl::OkStatus();
}

// Sets the shapes of data, weight, output 0 and, unless no_bias, bias by the rule of
// FullyConnected, where all extents of data but the first are known.
inline absl::Status QuantizedDenseShape(const FullyConnectedParam& param, ShapeContext& c) {
  using enum FullyConnectedArrays::Input;
  if (!param.no_bias) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kBias, {param.num_hidden}, "(num_hidden,)"));
  }
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  PartialShape output = {data[0], param.num_hidden};
  int64_t input_dim = data[data.rank() - 1];
  if (param.flatten) {
    input_dim = data.rank() == 1 ? 1 : PartialShape(data.dims().subspan(1)).num_elements();
  } else {
    output = data;
    output[output.rank() - 1] = param.num_hidden;
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kWeight, {param.num_hidden, input_dim}, "(num_hidden, input_dim)"));
  return c.SetOutput(0, output, "(batch_size, num_hidden)");
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_
