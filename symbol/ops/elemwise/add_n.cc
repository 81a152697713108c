// Adds any number of arrays. MXNet: src/operator/tensor/elemwise_sum.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

struct AddNParam {
  int num_args = 0;

  static void Declare(ParamDeclaration<AddNParam>& d) {
    d.Field("num_args", &AddNParam::num_args).Min(1).Doc("number of inputs");
  }
};

absl::StatusOr<std::vector<NodeEntry>> AddNGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return std::vector<NodeEntry>(c.num_inputs(), head);
}

OpBuilder&& Declare(OpBuilder&& builder) {
  return std::move(builder)
      .Param<AddNParam>()
      .VariadicInputs("num_args")
      .Shape(SameShape)
      .Type(SameType)
      .Gradient(AddNGradient)
      .InPlace({{0, 0}})
      .Elementwise();
}

const OpRegistrar kAddN = Declare(
    OpBuilder("add_n").Alias("ElementWiseSum").Describe("The sum of all inputs, in their order."));
const OpRegistrar kGradSum =
    Declare(OpBuilder("_grad_sum").Describe("The sum of the gradients that reach one value."));

}  // namespace
}  // namespace cooper
