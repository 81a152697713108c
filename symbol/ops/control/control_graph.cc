#include "symbol/ops/control/control_graph.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

std::vector<int> VariablesOf(const IndexedGraph& graph) {
  std::vector<int> variables;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (graph.nodes()[i]->is_variable()) variables.push_back(i);
  }
  return variables;
}

ControlGraph::ControlGraph(const OpCall& call, int k, const std::vector<int64_t>& inputs)
    : outputs_((*call.subgraphs)[k]),
      inputs_(inputs),
      graph_(outputs_),
      variables_(VariablesOf(graph_)) {}

absl::Status ControlGraph::Check(const OpCall& call, int k, absl::string_view what,
                                 const std::vector<int64_t>& inputs, absl::string_view attr,
                                 int num_inputs) {
  const size_t variables = VariablesOf(IndexedGraph((*call.subgraphs)[k])).size();
  if (inputs.size() != variables) {
    return absl::InvalidArgumentError(absl::StrCat(what, " has ", variables, " variables, but ",
                                                   attr, " names ", inputs.size(), " inputs"));
  }
  for (const int64_t input : inputs) {
    if (input >= 0 && input < num_inputs) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(attr, " names input ", input, ", but the node has ", num_inputs, " inputs"));
  }
  return absl::OkStatus();
}

absl::Status ControlGraph::InferShapes(ShapeContext& c, const char* what,
                                       std::vector<PartialShape>& outputs) const {
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph_, {}));
  const auto merge = [&](int entry, const PartialShape& shape) -> absl::Status {
    if (shapes[entry].Merge(shape)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": a value has shape ", shapes[entry].ToString(), ", expected ", shape.ToString()));
  };
  for (int j = 0; j < num_variables(); ++j) {
    COOPER_RETURN_IF_ERROR(merge(entry(j), c.input(input(j))));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    COOPER_RETURN_IF_ERROR(merge(graph_.entry(outputs_[o]), outputs[o]));
  }
  COOPER_RETURN_IF_ERROR(AddContext(InferEntryShapes(graph_, shapes), what));
  for (int j = 0; j < num_variables(); ++j) {
    COOPER_RETURN_IF_ERROR(c.SetInput(input(j), shapes[entry(j)], what));
  }
  for (size_t o = 0; o < outputs.size(); ++o) outputs[o] = shapes[graph_.entry(outputs_[o])];
  return absl::OkStatus();
}

absl::Status ControlGraph::InferTypes(TypeContext& c, const char* what,
                                      std::vector<TypeContext::Type>& outputs) const {
  COOPER_ASSIGN_OR_RETURN(std::vector<TypeContext::Type> types, VariableTypes(graph_, {}));
  for (int j = 0; j < num_variables(); ++j) {
    if (c.input(input(j)).has_value()) types[entry(j)] = c.input(input(j));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    TypeContext::Type& type = types[graph_.entry(outputs_[o])];
    if (!type.has_value()) type = outputs[o];
  }
  COOPER_RETURN_IF_ERROR(AddContext(InferEntryTypes(graph_, types), what));
  for (int j = 0; j < num_variables(); ++j) {
    COOPER_RETURN_IF_ERROR(c.SetInput(input(j), types[entry(j)]));
  }
  for (size_t o = 0; o < outputs.size(); ++o) outputs[o] = types[graph_.entry(outputs_[o])];
  return absl::OkStatus();
}

absl::Status CheckHasSubgraphs(const OpCall& call) {
  return call.subgraphs == nullptr ? call.op->CheckSubgraphs(call) : absl::OkStatus();
}

std::vector<int> AuxInputsOf(const std::vector<ControlGraph>& graphs) {
  std::vector<int> inputs;
  for (const ControlGraph& graph : graphs) {
    for (int j = 0; j < graph.num_variables(); ++j) {
      if (graph.is_aux(j)) inputs.push_back(graph.input(j));
    }
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

absl::Status CheckConditionShape(const PartialShape& shape) {
  if (!shape.IsFull() || shape.ToShape().num_elements() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the condition has shape ", shape.ToString(), ", expected one element"));
}

OpSchema::Names NumberedNames(absl::string_view prefix, int count, absl::string_view alone) {
  if (count == 1 && !alone.empty()) return {std::string(alone)};
  OpSchema::Names names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

PartialShape StackedShape(int64_t length, const PartialShape& step) {
  if (!step.rank_known()) return step;
  std::vector<int64_t> dims = {length};
  dims.insert(dims.end(), step.dims().begin(), step.dims().end());
  return PartialShape(dims);
}

}  // namespace cooper
