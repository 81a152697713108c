// BatchNorm of 8-bit integers, in prediction. MXNet:
// src/operator/quantization/quantized_batch_norm.cc.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum QuantizedBatchNormArrays::Input;

// Shape rule: output 0 has the shape of data; the arrays of BatchNorm are (channels,).
absl::Status QuantizedBatchNormShape(ShapeContext& c) {
  const auto& param = c.param<BatchNormParam>();
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, kMinData));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  const int64_t axis = param.axis < 0 ? param.axis + data.rank() : param.axis;
  if (axis < 0 || axis >= data.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis is ", param.axis, ", but input 'data' has the shape ", data.ToString()));
  }
  for (int i = kGamma; i < kMinData; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, {data[static_cast<int>(axis)]}, "(channels,)"));
  }
  return c.SetOutput(0, data);
}

// Type rule: data is int8 or uint8, output 0 int8.
absl::Status QuantizedBatchNormType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, DType::kInt8));
  return SetRangeTypes(c, kGamma);  // float32, as the arrays of BatchNorm
}

COOPER_REGISTER_OP(_contrib_quantized_batch_norm)
    .Describe(
        "BatchNorm of 8-bit integers by the moving statistics: int8 integers of the calibrated "
        "range, which has to be given, and that range.")
    .Param<BatchNormParam>()
    .Inputs({"data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"})
    .AuxInputs([](const OpCall&) {
      return std::vector<int>{kMovingMean, kMovingVar};
    })
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedBatchNormShape)
    .Type(QuantizedBatchNormType)
    .Kind(OpKind::kNormalization);

COOPER_OP_EXAMPLE(_contrib_quantized_batch_norm,
                  {{"min_calib_range", "-1"}, {"max_calib_range", "1"}},
                  {{2, 3, 4, 5}, {3}, {3}, {3}, {3}, {1}, {1}});

}  // namespace
}  // namespace cooper
