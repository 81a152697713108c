// Converts between dtypes. MXNet: src/operator/tensor/elemwise_unary_op_basic.cc, amp_cast.cc.

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/cast_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CastType(TypeContext& c) { return c.SetOutput(0, c.param<CastParam>().dtype); }

// Returns whether the amp_ operators convert the dtype: only float32 and the 16-bit floats.
bool IsMixedPrecision(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBfloat16;
}

absl::Status AmpCastType(TypeContext& c) {
  if (!c.input(0)) return absl::OkStatus();
  return c.SetOutput(0, IsMixedPrecision(*c.input(0)) ? c.param<CastParam>().dtype : *c.input(0));
}

absl::StatusOr<std::vector<NodeEntry>> CastGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_cast", {head});
}

OpSchema::Names Numbered(const char* prefix, const OpCall& call) {
  OpSchema::Names names;
  for (int i = 0; i < call.param<AmpMulticastParam>().num_outputs; ++i) {
    names.push_back(absl::StrCat(prefix, i));
  }
  return names;
}

// Shape rule: output i has the shape of input i.
absl::Status PairwiseShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(i)));
  }
  return absl::OkStatus();
}

// Type rule: the common dtype is that of the first input, or float32 if another input is float32.
// With cast_narrow it is float32, or a 16-bit float if an input has one.
absl::Status AmpMulticastType(TypeContext& c) {
  const bool narrow = c.param<AmpMulticastParam>().cast_narrow;
  TypeContext::Type common = narrow ? DType::kFloat32 : c.input(0);
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TypeContext::Type type = c.input(i);
    if (!type) return absl::OkStatus();
    const bool is_narrow = type == DType::kFloat16 || type == DType::kBfloat16;
    if (narrow ? is_narrow : type == DType::kFloat32) common = type;
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, IsMixedPrecision(*c.input(i)) ? common : c.input(i)));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(Cast)
    .Alias("cast")
    .Describe("The input converted to dtype.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(CastType)
    .Gradient(CastGradient)
    .InPlace({{0, 0}})
    .KeepsElements()
    .Elementwise();

COOPER_REGISTER_OP(amp_cast)
    .Describe("The input converted to dtype if it is float32 or a 16-bit float.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(AmpCastType)
    .Gradient(CastGradient)
    .InPlace({{0, 0}})
    .KeepsElements()
    .Elementwise();

COOPER_REGISTER_OP(amp_multicast)
    .Describe("The inputs that are float32 or 16-bit floats, converted to one dtype.")
    .Param<AmpMulticastParam>()
    .Inputs([](const OpCall& call) { return Numbered("data_", call); })
    .Outputs([](const OpCall& call) { return Numbered("output", call); })
    .Shape(PairwiseShape)
    .Type(AmpMulticastType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      std::vector<NodeEntry> heads;
      for (int i = 0; i < c.num_outputs(); ++i) {
        COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(i));
        heads.push_back(head);
      }
      return c.Backward("_backward_amp_multicast", std::move(heads));
    });

COOPER_REGISTER_OP(_backward_amp_multicast)
    .Describe("The head gradients in the dtypes that were cast from.")
    .Param<AmpMulticastParam>()
    .Inputs([](const OpCall& call) { return Numbered("ograd_", call); })
    .Outputs([](const OpCall& call) { return Numbered("output", call); })
    .Shape(PairwiseShape)
    .Type(GradientType);

// The dtype parameter belongs to the forward operator; this operator's output has the dtype of the
// forward input.
COOPER_REGISTER_OP(_backward_cast)
    .Describe("The head gradient in the dtype that was cast from.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(GradientType)
    .InPlace({{0, 0}})
    .KeepsElements()
    .Elementwise();

}  // namespace
}  // namespace cooper
