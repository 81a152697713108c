// Operators whose gradient is not the derivative: estimators that pass the head gradient through a
// step, a factor for gradients alone, and a change of storage. MXNet:
// src/operator/contrib/stes_op.cc, gradient_multiplier_op.cc, src/operator/tensor/cast_storage.cc.

#include <string>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

Entries HeadGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return std::vector<NodeEntry>{head};
}

COOPER_REGISTER_OP(_contrib_round_ste)
    .Describe("The nearest integer, halves away from 0; the gradient is the head gradient.")
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(HeadGradient)
    .InPlace({{0, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_contrib_sign_ste)
    .Describe("-1, 0 or 1; the gradient is the head gradient.")
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(HeadGradient)
    .InPlace({{0, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_contrib_gradientmultiplier)
    .Describe("The input; the gradient is the head gradient times scalar.")
    .Param<ScalarParam>()
    .Shape(SameShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      const std::string scalar = PrintParamText(c.param<ScalarParam>().scalar);
      COOPER_ASSIGN_OR_RETURN(NodeEntry grad, c.Call("_mul_scalar", {head}, {{"scalar", scalar}}));
      return std::vector<NodeEntry>{grad};
    })
    .View()
    .Elementwise();

struct CastStorageParam {
  std::string stype;

  static void Declare(ParamDeclaration<CastStorageParam>& d) {
    d.Field("stype", &CastStorageParam::stype)
        .Required()
        .Doc("default, row_sparse or csr: has no effect, since all arrays are dense");
  }
};

COOPER_REGISTER_OP(cast_storage)
    .Describe("The input: cooper computes with dense arrays only.")
    .Param<CastStorageParam>()
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(HeadGradient)
    .View()
    .Elementwise();

COOPER_OP_EXAMPLE(cast_storage, {{"stype", "row_sparse"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
