// Conversions between dtypes. MXNet: src/operator/tensor/elemwise_unary_op_basic.cc, amp_cast.cc.

#include <string>

#include "ndarray/status_macros.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/ops/elemwise/cast_param.h"
#include "symbol/shape_context.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

absl::Status CastType(TypeContext& c) { return c.SetOutput(0, c.param<CastParam>().dtype); }

// Only float32 and the 16-bit floats are converted: others keep their dtype.
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

COOPER_REGISTER_OP(Cast)
    .Alias("cast")
    .Describe("The input converted to dtype.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(CastType)
    .Gradient(CastGradient)
    .InPlace({{0, 0}});

COOPER_REGISTER_OP(amp_cast)
    .Describe("The input converted to dtype if it is float32 or a 16-bit float.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(AmpCastType)
    .Gradient(CastGradient)
    .InPlace({{0, 0}});

// The dtype parameter is the forward operator's: here it is the input's.
COOPER_REGISTER_OP(_backward_cast)
    .Describe("The head gradient in the dtype that was cast from.")
    .Param<CastParam>()
    .Shape(SameShape)
    .Type(GradientType)
    .InPlace({{0, 0}});

}  // namespace
}  // namespace cooper
