#include "symbol/control/foreach.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/control/cut_graph.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/name_manager.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

absl::StatusOr<ForeachResult> Build(const ForeachBodyFn& function, const std::vector<Symbol>& data,
                                    const std::vector<Symbol>& states, const std::string& name) {
  if (data.empty()) return absl::InvalidArgumentError("there is no data to run over");
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outer_data, EntriesOf(data, "data"));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outer_states, EntriesOf(states, "state"));
  ForeachStep step;
  std::vector<Symbol> inner_data, inner_states;
  {
    const AttrScope scope(GraphMark(name));
    inner_data = Placeholders(outer_data, name, "_step");
    inner_states = Placeholders(outer_states, name, "_state");
    step = function(inner_data, inner_states);
  }
  if (step.states.size() != states.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the body returned ", step.states.size(),
                                                   " states, expected ", states.size()));
  }
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outputs, EntriesOf(step.outputs, "output"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NodeEntry> after, EntriesOf(step.states, "new state"));
  const size_t num_out_data = outputs.size();
  outputs.insert(outputs.end(), after.begin(), after.end());
  if (outputs.empty()) return absl::InvalidArgumentError("the body returned nothing");

  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> data_entries, EntriesOf(inner_data, "data"));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> state_entries, EntriesOf(inner_states, "state"));
  std::vector<NodeEntry> placeholders = data_entries;
  placeholders.insert(placeholders.end(), state_entries.begin(), state_entries.end());
  CutGraph body = Cut(outputs, name, placeholders);
  COOPER_ASSIGN_OR_RETURN(const auto data_positions,
                          PositionsOf(body.outputs, data_entries, "data"));
  COOPER_ASSIGN_OR_RETURN(const auto state_positions,
                          PositionsOf(body.outputs, state_entries, "state"));
  COOPER_ASSIGN_OR_RETURN(const auto other_positions,
                          PositionsOf(body.outputs, body.inner, "value"));

  AttrMap attrs;
  attrs["in_data_locs"] = PrintParamText(data_positions);
  attrs["in_state_locs"] = PrintParamText(state_positions);
  attrs["remain_locs"] = PrintParamText(other_positions);
  attrs["num_out_data"] = absl::StrCat(num_out_data);
  attrs["num_outputs"] = absl::StrCat(body.outputs.size());
  std::vector<NodeEntry> inputs = std::move(outer_data);
  inputs.insert(inputs.end(), outer_states.begin(), outer_states.end());
  inputs.insert(inputs.end(), body.outer.begin(), body.outer.end());
  COOPER_ASSIGN_OR_RETURN(const NodePtr node,
                          MakeControlNode("_foreach", name, std::move(attrs), std::move(inputs),
                                          {std::move(body.outputs)}));
  ForeachResult result;
  for (int i = 0; i < node->num_outputs(); ++i) {
    auto& list = i < static_cast<int>(num_out_data) ? result.outputs : result.states;
    list.push_back(Symbol({NodeEntry{node, i}}));
  }
  return result;
}

}  // namespace

ForeachResult Foreach(const ForeachBodyFn& body, const std::vector<Symbol>& data,
                      const std::vector<Symbol>& states, const std::string& given_name) {
  const std::string name = NameManager::Current().Get(given_name, "foreach");
  absl::StatusOr<ForeachResult> result = Build(body, data, states, name);
  if (result.ok()) return *std::move(result);
  const Symbol error(AddContext(result.status(), "_foreach '", name, "'"));
  return {.outputs = {error}, .states = {error}};
}

}  // namespace cooper
