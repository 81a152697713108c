// A choice between two graphs by a condition, which is a graph too. There are no kernels: executors
// compute the condition and let it choose (executor/passes/graph/expand_control_flow.h), and
// gradients are those of the branches. MXNet: src/operator/control_flow.cc.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/cond_param.h"
#include "symbol/ops/control/control_graph.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckCond(const OpCall& call) {
  const auto& param = call.param<CondParam>();
  const auto check = [&](int k, const char* what, const std::vector<int64_t>& inputs,
                         const char* attr, size_t outputs) -> absl::Status {
    COOPER_RETURN_IF_ERROR(ControlGraph::Check(call, k, what, inputs, attr, param.num_inputs()));
    if ((*call.subgraphs)[k].size() == outputs) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", (*call.subgraphs)[k].size(), " outputs, expected ", outputs));
  };
  const auto outputs = static_cast<size_t>(param.num_outputs);
  COOPER_RETURN_IF_ERROR(
      check(CondParam::kCondition, "the condition", param.cond_input_locs, "cond_input_locs", 1));
  COOPER_RETURN_IF_ERROR(check(CondParam::kThen, "the branch 'then'", param.then_input_locs,
                               "then_input_locs", outputs));
  return check(CondParam::kElse, "the branch 'else'", param.else_input_locs, "else_input_locs",
               outputs);
}

absl::Status CondShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  const std::vector<ControlGraph> graphs = CondGraphs(c.call());
  std::vector<PartialShape> condition(1);
  COOPER_RETURN_IF_ERROR(
      graphs[CondParam::kCondition].InferShapes(c, "in the condition", condition));
  COOPER_RETURN_IF_ERROR(CheckConditionShape(condition[0]));
  std::vector<PartialShape> on_true(c.num_outputs()), on_false(c.num_outputs());
  for (int round = 0; round < 2; ++round) {
    COOPER_RETURN_IF_ERROR(
        graphs[CondParam::kThen].InferShapes(c, "in the branch 'then'", on_true));
    COOPER_RETURN_IF_ERROR(
        graphs[CondParam::kElse].InferShapes(c, "in the branch 'else'", on_false));
    for (int i = 0; i < c.num_outputs(); ++i) {
      PartialShape both = on_true[i];
      if (!both.Merge(on_false[i])) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", i, " has shape ", on_true[i].ToString(),
                         " in the branch 'then' and ", on_false[i].ToString(),
                         " in the branch 'else': the memory of an output is planned "
                         "before the condition is known, so both must be equal"));
      }
      COOPER_RETURN_IF_ERROR(c.SetOutput(i, both));
      on_true[i] = on_false[i] = c.output(i);
    }
  }
  return absl::OkStatus();
}

absl::Status CondType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  const std::vector<ControlGraph> graphs = CondGraphs(c.call());
  std::vector<TypeContext::Type> condition(1), outputs(c.num_outputs());
  COOPER_RETURN_IF_ERROR(
      graphs[CondParam::kCondition].InferTypes(c, "in the condition", condition));
  for (int i = 0; i < c.num_outputs(); ++i) outputs[i] = c.output(i);
  COOPER_RETURN_IF_ERROR(graphs[CondParam::kThen].InferTypes(c, "in the branch 'then'", outputs));
  COOPER_RETURN_IF_ERROR(graphs[CondParam::kElse].InferTypes(c, "in the branch 'else'", outputs));
  COOPER_RETURN_IF_ERROR(graphs[CondParam::kThen].InferTypes(c, "in the branch 'then'", outputs));
  for (int i = 0; i < c.num_outputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, outputs[i]));
  return absl::OkStatus();
}

COOPER_REGISTER_OP(_cond)
    .Describe(
        "Runs one of two branches, graphs with equally many outputs of equal shapes, as its "
        "condition, a graph with one element, says.")
    .Param<CondParam>()
    .Inputs([](const OpCall& call) {
      return NumberedNames("data", call.param<CondParam>().num_inputs());
    })
    .AuxInputs([](const OpCall& call) {
      if (call.subgraphs == nullptr) return std::vector<int>();  // not yet read from the file
      return AuxInputsOf(CondGraphs(call));
    })
    .Outputs([](const OpCall& call) {
      return NumberedNames("output", call.param<CondParam>().num_outputs, "output");
    })
    .Subgraphs(3, CheckCond)
    .Shape(CondShape)
    .Type(CondType);

}  // namespace
}  // namespace cooper
