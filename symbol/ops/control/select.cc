// The operators to which executors lower _cond and _while_loop (executor/passes/graph/
// expand_control_flow.h). A graph that runs under a condition reads its inputs through _guard, and
// its outputs leave through _select or _keep_if. Their gradients choose as well, they do not
// multiply, so a NaN of the graph that was not chosen reaches neither values nor gradients.

#include <string>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/select_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// Merges the shapes of output 0 and of all inputs but `condition`.
absl::Status ChosenShape(ShapeContext& c, int condition) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != condition) COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(i)));
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != condition) COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(0)));
  }
  return c.SetInput(condition, {1}, "one condition");
}

absl::Status ChosenType(TypeContext& c, int condition) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != condition) COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(i)));
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != condition) COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(0)));
  }
  return c.SetInput(condition, DType::kBool);
}

absl::StatusOr<NodeEntry> KeepIf(GradientContext& c, const NodeEntry& head,
                                 const NodeEntry& condition, bool expected) {
  return c.Call("_keep_if", {head, condition}, {{"expected", expected ? "True" : "False"}});
}

// Gradient rule of _guard and _keep_if: the head gradient where the condition is as expected.
Entries GuardGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(const NodeEntry data, KeepIf(c, head, c.input(GuardArrays::kCondition),
                                                       c.param<GuardParam>().expected));
  return std::vector<NodeEntry>{data, NodeEntry()};
}

COOPER_REGISTER_OP(_select)
    .Describe("on_true if the condition, one bool, is true, else on_false.")
    .Inputs({"condition", "on_true", "on_false"})
    .Shape([](ShapeContext& c) { return ChosenShape(c, SelectArrays::kCondition); })
    .Type([](TypeContext& c) { return ChosenType(c, SelectArrays::kCondition); })
    .InPlace({{SelectArrays::kOnTrue, 0}, {SelectArrays::kOnFalse, 0}})
    .Gradient([](GradientContext& c) -> Entries {
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      const NodeEntry& condition = c.input(SelectArrays::kCondition);
      COOPER_ASSIGN_OR_RETURN(const NodeEntry on_true, KeepIf(c, head, condition, true));
      COOPER_ASSIGN_OR_RETURN(const NodeEntry on_false, KeepIf(c, head, condition, false));
      return std::vector<NodeEntry>{NodeEntry(), on_true, on_false};
    });

COOPER_REGISTER_OP(_keep_if)
    .Describe("The data if the condition, one bool, is as expected, else zeros.")
    .Param<GuardParam>()
    .Inputs({"data", "condition"})
    .Shape([](ShapeContext& c) { return ChosenShape(c, GuardArrays::kCondition); })
    .Type([](TypeContext& c) { return ChosenType(c, GuardArrays::kCondition); })
    .InPlace({{GuardArrays::kData, 0}})
    .Gradient(GuardGradient);

COOPER_REGISTER_OP(_guard)
    .Describe(
        "The data; its gradient is zero unless the condition, one bool, is as expected. Executors "
        "read the inputs of a branch through it.")
    .Param<GuardParam>()
    .Inputs({"data", "condition"})
    .Shape([](ShapeContext& c) { return ChosenShape(c, GuardArrays::kCondition); })
    .Type([](TypeContext& c) { return ChosenType(c, GuardArrays::kCondition); })
    .View()
    .Gradient(GuardGradient);

}  // namespace
}  // namespace cooper
