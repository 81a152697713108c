#ifndef COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_
#define COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_

// Sets the shapes and dtypes of ranges in the rules of operators on quantized arrays: a range is
// two float32 arrays of shape (1,). Outputs 1 and 2 are the range of output 0.

#include "absl/status/status.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// Sets the shapes of the inputs from `first` on, which are ranges, and of the range of output 0.
// Fails with kInvalidArgument, naming the array, for other shapes.
inline absl::Status SetRangeShapes(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, {1}, "(1,)"));
  }
  for (const int output : {QuantizedOutputs::kMin, QuantizedOutputs::kMax}) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, {1}, "(1,)"));
  }
  return absl::OkStatus();
}

// Sets the dtypes of the inputs from `first` on, which are ranges, and of the range of output 0.
// Fails with kInvalidArgument, naming the array, for other dtypes. A range is float32 whatever the
// dtype of its array is.
inline absl::Status SetRangeTypes(TypeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  for (const int output : {QuantizedOutputs::kMin, QuantizedOutputs::kMax}) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, DType::kFloat32));
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_QUANTIZED_RULES_H_
