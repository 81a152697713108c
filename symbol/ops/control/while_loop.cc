// A loop that runs its body, a graph, while its condition, a graph too, holds, at most
// max_iterations times. There are no kernels: executors replace it by that many steps, each of
// which runs only if the condition still holds (executor/passes/graph/expand_control_flow.h), and
// gradients are those of the steps. MXNet: src/operator/control_flow.cc.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/control_graph.h"
#include "symbol/ops/control/while_loop_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

constexpr const char* kInCondition = "in the condition";
constexpr const char* kInBody = "in the body";

absl::Status CheckWhileLoop(const OpCall& call) {
  const auto& param = call.param<WhileLoopParam>();
  const std::vector<std::vector<NodeEntry>>& graphs = *call.subgraphs;
  COOPER_RETURN_IF_ERROR(ControlGraph::Check(call, WhileLoopParam::kCondition, "the condition",
                                             param.cond_input_locs, "cond_input_locs",
                                             param.num_inputs()));
  COOPER_RETURN_IF_ERROR(ControlGraph::Check(call, WhileLoopParam::kBody, "the body",
                                             param.func_input_locs, "func_input_locs",
                                             param.num_inputs()));
  if (graphs[WhileLoopParam::kCondition].size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the condition has ", graphs[WhileLoopParam::kCondition].size(), " outputs, expected 1"));
  }
  if (graphs[WhileLoopParam::kBody].size() != static_cast<size_t>(param.num_outputs) ||
      param.num_outputs != param.num_out_data + param.num_vars()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body has ", graphs[WhileLoopParam::kBody].size(),
                     " outputs and num_outputs is ", param.num_outputs, ", expected num_out_data ",
                     param.num_out_data, " + ", param.num_vars(), " loop variables"));
  }
  std::vector<int64_t> vars = param.func_var_locs;
  std::sort(vars.begin(), vars.end());
  for (size_t k = 0; k < vars.size(); ++k) {
    if (vars[k] >= 0 && vars[k] < static_cast<int64_t>(param.func_input_locs.size()) &&
        (k == 0 || vars[k] != vars[k - 1])) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("variable ", vars[k],
                     " of the body is out of range or twice in func_var_locs; the body "
                     "has ",
                     param.func_input_locs.size(), " variables"));
  }
  // A step replaces the value of a loop variable, which no other variable of the body may read.
  for (int k = 0; k < param.num_vars(); ++k) {
    if (absl::c_count(param.func_input_locs, param.var_input(k)) == 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input ", param.var_input(k), " is the start of loop variable ", k,
                     " and of another variable of the body: give each an input of its own"));
  }
  return absl::OkStatus();
}

absl::Status WhileLoopShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  const auto& param = c.param<WhileLoopParam>();
  const std::vector<ControlGraph> graphs = WhileLoopGraphs(c.call());
  const int steps = param.num_out_data;  // the first loop variable among the outputs
  std::vector<PartialShape> condition(1), outputs(c.num_outputs());
  for (int j = 0; j < steps; ++j) {
    const PartialShape& stacked = c.output(j);
    if (!stacked.rank_known() || stacked.rank() == 0) continue;
    outputs[j] =
        PartialShape(std::vector<int64_t>(stacked.dims().begin() + 1, stacked.dims().end()));
  }
  // A loop variable has one shape before, during and after the loop.
  constexpr const char* kKept = "which a loop variable keeps from step to step";
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < param.num_vars(); ++k) {
      COOPER_RETURN_IF_ERROR(c.SetInput(param.var_input(k), c.output(steps + k), kKept));
      outputs[steps + k] = c.input(param.var_input(k));
    }
    COOPER_RETURN_IF_ERROR(
        graphs[WhileLoopParam::kCondition].InferShapes(c, kInCondition, condition));
    COOPER_RETURN_IF_ERROR(graphs[WhileLoopParam::kBody].InferShapes(c, kInBody, outputs));
    for (int k = 0; k < param.num_vars(); ++k) {
      COOPER_RETURN_IF_ERROR(c.SetOutput(steps + k, outputs[steps + k], kKept));
    }
  }
  COOPER_RETURN_IF_ERROR(CheckConditionShape(condition[0]));
  for (int j = 0; j < steps; ++j) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(j, StackedShape(param.max_iterations, outputs[j]), "(max_iterations, ...)"));
  }
  return absl::OkStatus();
}

absl::Status WhileLoopType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  const auto& param = c.param<WhileLoopParam>();
  const std::vector<ControlGraph> graphs = WhileLoopGraphs(c.call());
  const int steps = param.num_out_data;
  std::vector<TypeContext::Type> condition(1), outputs(c.num_outputs());
  for (int j = 0; j < c.num_outputs(); ++j) outputs[j] = c.output(j);
  for (int k = 0; k < param.num_vars(); ++k) {
    COOPER_RETURN_IF_ERROR(c.SetInput(param.var_input(k), outputs[steps + k]));
    outputs[steps + k] = c.input(param.var_input(k));
  }
  COOPER_RETURN_IF_ERROR(graphs[WhileLoopParam::kCondition].InferTypes(c, kInCondition, condition));
  COOPER_RETURN_IF_ERROR(graphs[WhileLoopParam::kBody].InferTypes(c, kInBody, outputs));
  for (int j = 0; j < c.num_outputs(); ++j) COOPER_RETURN_IF_ERROR(c.SetOutput(j, outputs[j]));
  for (int k = 0; k < param.num_vars(); ++k) {
    COOPER_RETURN_IF_ERROR(c.SetInput(param.var_input(k), outputs[steps + k]));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(_while_loop)
    .Describe(
        "Runs its body, a graph, while its condition, a graph with one element, holds, at most "
        "max_iterations times. Outputs: the body's values, stacked, with zeros in the rows of "
        "steps "
        "that did not run, then the last loop variables.")
    .Param<WhileLoopParam>()
    .Inputs([](const OpCall& call) {
      return NumberedNames("data", call.param<WhileLoopParam>().num_inputs());
    })
    .AuxInputs([](const OpCall& call) {
      if (call.subgraphs == nullptr) return std::vector<int>();  // not yet read from the file
      return AuxInputsOf(WhileLoopGraphs(call));
    })
    .Outputs([](const OpCall& call) {
      return NumberedNames("output", call.param<WhileLoopParam>().num_outputs, "output");
    })
    .Subgraphs(2, CheckWhileLoop)
    .Shape(WhileLoopShape)
    .Type(WhileLoopType);

}  // namespace
}  // namespace cooper
