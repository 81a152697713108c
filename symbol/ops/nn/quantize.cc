// Converts between float32 and 8-bit integers. MXNet: src/operator/quantization/quantize_v2.cc,
// quantize.cc, quantize_asym.cc, dequantize.cc, requantize.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum QuantizedArrays::Input;

// Shape rule: output 0 has the shape of data, the other arrays are (1,).
absl::Status QuantizeShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, /*first=*/1));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  return c.SetOutput(0, c.input(kData));
}

absl::Status DequantizeShape(ShapeContext& c) {
  for (const int range : {kMin, kMax}) COOPER_RETURN_IF_ERROR(c.SetInput(range, {1}, "(1,)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  return c.SetOutput(0, c.input(kData));
}

absl::Status QuantizeType(TypeContext& c) {
  const bool is_unsigned = c.param<QuantizeParam>().is_unsigned();
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, is_unsigned ? DType::kUint8 : DType::kInt8));
  return SetRangeTypes(c, /*first=*/1);
}

absl::Status QuantizeToRangeType(TypeContext& c) {
  const bool is_unsigned = c.param<QuantizeToRangeParam>().out_type == QuantizedType::kUint8;
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, DType::kFloat32));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, is_unsigned ? DType::kUint8 : DType::kInt8));
  return SetRangeTypes(c, /*first=*/1);
}

absl::Status QuantizeAsymmetricType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, DType::kFloat32));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, DType::kUint8));
  return SetRangeTypes(c, /*first=*/1);
}

absl::Status RequantizeType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, DType::kInt32));
  return QuantizeType(c);
}

absl::Status DequantizeType(TypeContext& c) {
  for (const int range : {kMin, kMax}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(range, DType::kFloat32));
  }
  return c.SetOutput(0, DType::kFloat32);
}

COOPER_REGISTER_OP(_contrib_quantize_v2)
    .Describe(
        "data as 8-bit integers, and the range that they stand for. No gradient flows through it.")
    .Param<QuantizeParam>()
    .Inputs({"data"})
    .Outputs({"output0", "output1", "output2"})
    .Shape(QuantizeShape)
    .Type(QuantizeType);

COOPER_REGISTER_OP(_contrib_quantize)
    .Describe(
        "data as 8-bit integers of the range of the inputs, and that range. No gradient flows "
        "through it.")
    .Param<QuantizeToRangeParam>()
    .Inputs({"data", "min_range", "max_range"})
    .Outputs({"output0", "output1", "output2"})
    .Shape(QuantizeShape)
    .Type(QuantizeToRangeType);

COOPER_REGISTER_OP(_contrib_quantize_asym)
    .Describe(
        "data as uint8 integers data * scale + shift, with scale (1,) and shift (1,). No gradient "
        "flows through it.")
    .Param<CalibrationParam>()
    .Inputs({"data"})
    .Outputs({"output", "scale", "shift"})
    .Shape(QuantizeShape)
    .Type(QuantizeAsymmetricType);

COOPER_REGISTER_OP(_contrib_requantize)
    .Describe(
        "32-bit integers of a range as 8-bit integers, and the range that these stand for. No "
        "gradient flows through it.")
    .Param<QuantizeParam>()
    .Inputs({"data", "min_range", "max_range"})
    .Outputs({"output0", "output1", "output2"})
    .Shape(QuantizeShape)
    .Type(RequantizeType);

COOPER_REGISTER_OP(_contrib_dequantize)
    .Describe("The numbers that 8-bit integers of a range stand for. No gradient flows through it.")
    .Param<DequantizeParam>()
    .Inputs({"data", "min_range", "max_range"})
    .Shape(DequantizeShape)
    .Type(DequantizeType);

COOPER_OP_EXAMPLE(_contrib_quantize_v2, {}, {{2, 3}});
COOPER_OP_EXAMPLE(_contrib_quantize, {}, {{2, 3}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_quantize_asym, {}, {{2, 3, 4}});
COOPER_OP_EXAMPLE(_contrib_requantize, {}, {{2, 3}, {1}, {1}});
COOPER_OP_EXAMPLE(_contrib_dequantize, {}, {{2, 3}, {1}, {1}});

}  // namespace
}  // namespace cooper
