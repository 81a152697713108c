// NumPy products of arrays. MXNet: src/operator/numpy/np_dot.cc, np_matmul_op.cc,
// np_tensordot_op.cc, np_einsum_op.cc.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/contraction.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using LabelsFn = absl::StatusOr<Contraction> (*)(const OpCall& call, Shapes shapes);

// Returns a shape rule that labels axes by `labels` and gives the output the extents of its labels.
// It sets nothing while the rank of an input is unknown.
OpSchema::ShapeFn ShapeBy(LabelsFn labels) {
  return [labels](ShapeContext& c) -> absl::Status {
    std::vector<PartialShape> shapes;
    for (int i = 0; i < c.num_inputs(); ++i) {
      if (!c.input(i).rank_known()) return absl::OkStatus();
      shapes.push_back(c.input(i));
    }
    COOPER_ASSIGN_OR_RETURN(const Contraction contraction, labels(c.call(), shapes));
    COOPER_ASSIGN_OR_RETURN(const PartialShape shape, ContractedShape(contraction, shapes));
    return c.SetOutput(0, shape, "the axes that are not summed");
  };
}

absl::StatusOr<Contraction> Dot(const OpCall&, Shapes shapes) { return DotLabels(shapes); }
absl::StatusOr<Contraction> Matmul(const OpCall&, Shapes shapes) { return MatmulLabels(shapes); }
template <typename Param>
absl::StatusOr<Contraction> Tensordot(const OpCall& call, Shapes shapes) {
  return TensordotLabels(call.param<Param>(), shapes);
}
absl::StatusOr<Contraction> Einsum(const OpCall& call, Shapes shapes) {
  return EinsumLabels(call.param<EinsumParam>(), shapes);
}

// Returns the gradient rule: `op` computes the gradients of all inputs from the head and from them.
OpSchema::GradientFn ProductGradient(const std::string& op) {
  return [op](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
    std::vector<NodeEntry> inputs = {head};
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
    return c.Backward(op, std::move(inputs));
  };
}

OpBuilder Product(const char* name, const char* doc, LabelsFn labels) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Inputs({"a", "b"})
      .Shape(ShapeBy(labels))
      .Type(SameType)
      .Gradient(ProductGradient(absl::StrCat("_backward", name)));
  return builder;
}

OpBuilder Backward(const char* name) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe("Gradients of the product with respect to its inputs.")
      .Inputs({"ograd", "a", "b"})
      .Outputs({"a", "b"})
      .Shape(GradientShape)
      .Type(GradientType);
  return builder;
}

const OpRegistrar kDot = Product(
    "_np_dot", "Sums over the last axis of a and the last but one of b; scalars multiply.", Dot);
const OpRegistrar kBackwardDot = Backward("_backward_np_dot");

const OpRegistrar kMatmul =
    Product("_npi_matmul", "Products of matrices; further axes are broadcast together.", Matmul);
const OpRegistrar kBackwardMatmul = Backward("_backward_npi_matmul");

const OpRegistrar kTensordot =
    Product("_npi_tensordot", "Sums over pairs of axes of a and b.", Tensordot<TensordotParam>)
        .Param<TensordotParam>();
const OpRegistrar kBackwardTensordot = Backward("_backward_npi_tensordot").Param<TensordotParam>();

const OpRegistrar kTensordotIntAxes =
    Product("_npi_tensordot_int_axes", "Sums over the last axes of a and the first ones of b.",
            Tensordot<TensordotIntAxesParam>)
        .Param<TensordotIntAxesParam>();
const OpRegistrar kBackwardTensordotIntAxes =
    Backward("_backward_npi_tensordot_int_axes").Param<TensordotIntAxesParam>();

// Returns "ograd" and the names of the inputs, or the latter alone.
OpSchema::Names EinsumNames(const OpCall& call, bool with_head) {
  OpSchema::Names names;
  if (with_head) names.push_back("ograd");
  const int count = call.param<EinsumParam>().num_args;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("arg", i));
  return names;
}

COOPER_REGISTER_OP(_npi_einsum)
    .Describe("The sum of products of the inputs that Einstein's notation in subscripts says.")
    .Param<EinsumParam>()
    .VariadicInputs("num_args")
    .Shape(ShapeBy(Einsum))
    .Type(SameType)
    .Gradient(ProductGradient("_backward_npi_einsum"));

COOPER_REGISTER_OP(_backward_npi_einsum)
    .Describe("Gradients of einsum with respect to its inputs.")
    .Param<EinsumParam>()
    .Inputs([](const OpCall& call) { return EinsumNames(call, true); })
    .Outputs([](const OpCall& call) { return EinsumNames(call, false); })
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_npi_tensordot, {{"a_axes_summed", "(1,)"}, {"b_axes_summed", "(0,)"}},
                  {{2, 3}, {3, 4}});
COOPER_OP_EXAMPLE(_npi_tensordot_int_axes, {{"axes", "1"}}, {{2, 3}, {3, 4}});
COOPER_OP_EXAMPLE(_npi_matmul, {}, {{2, 3}, {3, 4}});
COOPER_OP_EXAMPLE(_np_dot, {}, {{2, 3}, {3, 4}});
COOPER_OP_EXAMPLE(_npi_einsum, {{"subscripts", "ij,jk->ik"}, {"num_args", "2"}}, {{2, 3}, {3, 4}});

}  // namespace
}  // namespace cooper
