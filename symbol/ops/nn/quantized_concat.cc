// Joins arrays of 8-bit integers. MXNet: src/operator/quantization/quantized_concat.cc.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/quantized_concat_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

OpSchema::Names Inputs(const OpCall& call) {
  const int64_t arrays = call.param<QuantizedConcatParam>().num_args;
  OpSchema::Names names;
  for (int64_t i = 0; i < arrays; ++i) names.push_back(absl::StrCat("arg", i));
  for (int64_t i = 0; i < arrays; ++i) {
    names.push_back(absl::StrCat("arg", i, "_min"));
    names.push_back(absl::StrCat("arg", i, "_max"));
  }
  return names;
}

// Shape rule: all arrays have equal extents, but that of the joined axis, which are added.
absl::Status QuantizedConcatShape(ShapeContext& c) {
  const auto& param = c.param<QuantizedConcatParam>();
  const int arrays = static_cast<int>(param.num_args);
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, arrays));
  PartialShape output;
  int64_t sum = 0;
  for (int i = 0; i < arrays; ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
    const int rank = c.input(i).rank(), axis = param.Axis(rank);
    if (axis < 0 || axis >= rank) {
      return absl::InvalidArgumentError(absl::StrCat("dim is ", param.dim, ", but input ", i,
                                                     " has the shape ", c.input(i).ToString()));
    }
    if (i > 0) {
      PartialShape others = output;
      others[axis] = kUnknownDim;
      COOPER_RETURN_IF_ERROR(c.SetInput(i, others, "the extents of the inputs before it"));
    }
    output = c.input(i);
    sum = ExtentSum(sum, output[axis]);
    output[axis] = kUnknownDim;
  }
  output[param.Axis(output.rank())] = sum;
  return c.SetOutput(0, output);
}

absl::Status QuantizedConcatType(TypeContext& c) {
  const int arrays = static_cast<int>(c.param<QuantizedConcatParam>().num_args);
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, arrays));
  bool is_signed = false;
  for (int i = 0; i < arrays; ++i) {
    if (!c.input(i).has_value()) return absl::OkStatus();
    is_signed = is_signed || c.input(i) == DType::kInt8;
  }
  return c.SetOutput(0, is_signed ? DType::kInt8 : DType::kUint8);
}

COOPER_REGISTER_OP(_contrib_quantized_concat)
    .Describe("8-bit integers joined along an axis and rescaled to one range, with that range.")
    .Param<QuantizedConcatParam>()
    .Inputs(Inputs)
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedConcatShape)
    .Type(QuantizedConcatType)
    .Kind(OpKind::kShaping);

COOPER_OP_EXAMPLE(_contrib_quantized_concat, {{"num_args", "2"}},
                  {{2, 3}, {2, 4}, {1}, {1}, {1}, {1}});

}  // namespace
}  // namespace cooper
