#include "symbol/ops/control/foreach_body.h"

#include <cstdint>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "symbol/ops/control/control_graph.h"

namespace cooper {
namespace {

// Returns the positions of the variables that stand for the inputs, in the order of the inputs.
std::vector<int64_t> Positions(const ForeachParam& param) {
  std::vector<int64_t> positions;
  for (const auto* part : {&param.in_data_locs, &param.in_state_locs, &param.remain_locs}) {
    positions.insert(positions.end(), part->begin(), part->end());
  }
  return positions;
}

}  // namespace

ForeachBody::ForeachBody(const OpCall& call) : call_(call), graph_(call.subgraphs->front()) {
  const std::vector<int> variables = VariablesOf(graph_);
  for (const int64_t position : Positions(param())) variables_.push_back(variables[position]);
}

absl::Status ForeachBody::Check(const OpCall& call) {
  const auto& param = call.param<ForeachParam>();
  const std::vector<NodeEntry>& outputs = call.subgraphs->front();
  const std::vector<int64_t> positions = Positions(param);
  const size_t variables = VariablesOf(IndexedGraph(outputs)).size();
  if (param.num_data() == 0) {
    return absl::InvalidArgumentError("in_data_locs is empty: a loop needs data to run over");
  }
  if (positions.size() + 1 != static_cast<size_t>(param.num_args)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "in_data_locs, in_state_locs and remain_locs name ", positions.size(),
        " inputs, but num_args is ", param.num_args, ", expected ", positions.size() + 1));
  }
  if (positions.size() != variables) {
    return absl::InvalidArgumentError(absl::StrCat("the body has ", variables,
                                                   " variables, expected one for each of the ",
                                                   positions.size(), " inputs"));
  }
  std::vector<bool> named(variables, false);
  for (const int64_t position : positions) {
    if (position < 0 || position >= static_cast<int64_t>(variables) || named[position]) {
      return absl::InvalidArgumentError(
          absl::StrCat("position ", position,
                       " of a variable of the body is out of range or "
                       "twice in in_data_locs, in_state_locs and remain_locs; the body has ",
                       variables, " variables"));
    }
    named[position] = true;
  }
  if (outputs.size() != static_cast<size_t>(param.num_outputs) ||
      param.num_outputs != param.num_out_data + param.num_states()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the body has ", outputs.size(), " outputs and num_outputs is ", param.num_outputs,
        ", expected num_out_data ", param.num_out_data, " + ", param.num_states(), " states"));
  }
  return absl::OkStatus();
}

}  // namespace cooper
