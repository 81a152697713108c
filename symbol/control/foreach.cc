#include "symbol/control/foreach.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/name_manager.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_text.h"
#include "symbol/schema/variable_set.h"

namespace cooper {
namespace {

// The attribute that marks the nodes of a body, as in MXNet.
constexpr char kMark[] = "__subgraph_name__";

// A body cut out of the graphs that it uses.
struct Body {
  std::vector<NodeEntry> outputs;
  std::vector<NodeEntry> outer;  // values from outside, the variables among them included
  std::vector<NodeEntry> inner;  // the body's variable for each of them
};

// Copies the nodes that are marked with `name`. Values that they read from unmarked nodes become
// variables of the body; a variable of the network keeps its name.
Body CutBody(const std::vector<NodeEntry>& outputs, const std::string& name,
             const std::vector<NodeEntry>& placeholders) {
  Body body;
  absl::flat_hash_map<const Node*, NodePtr> copies;
  absl::flat_hash_map<std::pair<const Node*, int>, NodeEntry> variables;
  for (const NodeEntry& entry : placeholders) variables[{entry.node.get(), 0}] = entry;
  const auto is_marked = [&](const Node& node) {
    const auto mark = node.attrs().find(kMark);
    return !node.is_variable() && mark != node.attrs().end() && mark->second == name;
  };
  const auto inside = [&](const NodeEntry& entry) -> NodeEntry {
    if (const auto it = copies.find(entry.node.get()); it != copies.end()) {
      return {it->second, entry.index};
    }
    auto [it, is_new] = variables.try_emplace({entry.node.get(), entry.index});
    if (is_new) {
      it->second =
          entry.node->is_variable() ? entry : Symbol::Variable(OutputName(entry)).outputs()[0];
      body.outer.push_back(entry);
      body.inner.push_back(it->second);
    }
    return it->second;
  };
  for (const Node* node : TopologicalOrder(outputs)) {
    if (!is_marked(*node)) continue;
    Node::Fields fields = node->fields();
    for (NodeEntry& input : fields.inputs) input = inside(input);
    fields.variables = nullptr;
    copies[node] = Node::Make(std::move(fields));
  }
  for (const NodeEntry& output : outputs) body.outputs.push_back(inside(output));
  return body;
}

absl::StatusOr<NodeEntry> OneOutput(const Symbol& symbol, const char* what, size_t i) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  if (symbol.num_outputs() == 1) return symbol.outputs()[0];
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", i, " has ", symbol.num_outputs(), " outputs, expected one"));
}

absl::StatusOr<std::vector<NodeEntry>> EntriesOf(const std::vector<Symbol>& symbols,
                                                 const char* what) {
  std::vector<NodeEntry> entries;
  for (size_t i = 0; i < symbols.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(entries.emplace_back(), OneOutput(symbols[i], what, i));
  }
  return entries;
}

// Returns a variable of the body for each value, named after both and the kind, such as "_step".
std::vector<Symbol> Placeholders(const std::vector<NodeEntry>& outer, const std::string& name,
                                 const char* kind) {
  std::vector<Symbol> inner;
  inner.reserve(outer.size());
  for (const NodeEntry& entry : outer) {
    inner.push_back(
        Symbol::Variable(absl::StrCat(name, "_", OutputName(entry), kind, inner.size())));
  }
  return inner;
}

// Returns the positions, among the variables of the body, of `entries`.
std::string Positions(const IndexedGraph& graph, const std::vector<NodeEntry>& entries) {
  absl::flat_hash_map<const Node*, int64_t> position;
  for (const Node* node : graph.nodes()) {
    if (node->is_variable()) position.emplace(node, static_cast<int64_t>(position.size()));
  }
  std::vector<int64_t> positions;
  positions.reserve(entries.size());
  for (const NodeEntry& entry : entries) positions.push_back(position.at(entry.node.get()));
  return PrintParamText(positions);
}

// Fails if the body does not read one of its data or states, for which MXNet has no position.
absl::Status CheckUsed(const IndexedGraph& graph, const std::vector<NodeEntry>& placeholders,
                       const char* what) {
  for (size_t i = 0; i < placeholders.size(); ++i) {
    if (graph.contains(placeholders[i].node.get())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the body does not read ", what, " ", i, ": leave it out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ForeachResult> Build(const ForeachBodyFn& function, const std::vector<Symbol>& data,
                                    const std::vector<Symbol>& states, const std::string& name) {
  if (data.empty()) return absl::InvalidArgumentError("there is no data to run over");
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outer_data, EntriesOf(data, "data"));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outer_states, EntriesOf(states, "state"));
  ForeachStep step;
  std::vector<Symbol> inner_data, inner_states;
  {
    const AttrScope scope(AttrMap{{kMark, name}});
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
  Body body = CutBody(outputs, name, placeholders);
  const IndexedGraph graph(body.outputs);
  COOPER_RETURN_IF_ERROR(CheckUsed(graph, data_entries, "data"));
  COOPER_RETURN_IF_ERROR(CheckUsed(graph, state_entries, "state"));

  AttrMap attrs = AttrScope::Current();
  attrs["in_data_locs"] = Positions(graph, data_entries);
  attrs["in_state_locs"] = Positions(graph, state_entries);
  attrs["remain_locs"] = Positions(graph, body.inner);
  attrs["num_out_data"] = absl::StrCat(num_out_data);
  attrs["num_outputs"] = absl::StrCat(body.outputs.size());
  std::vector<NodeEntry> inputs = std::move(outer_data);
  inputs.insert(inputs.end(), outer_states.begin(), outer_states.end());
  inputs.insert(inputs.end(), body.outer.begin(), body.outer.end());
  attrs["num_args"] = absl::StrCat(inputs.size() + 1);
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall("_foreach", std::move(attrs), inputs.size()));
  call.subgraphs = std::make_shared<const std::vector<std::vector<NodeEntry>>>(
      std::vector<std::vector<NodeEntry>>{std::move(body.outputs)});
  COOPER_RETURN_IF_ERROR(call.op->CheckSubgraphs(call));
  COOPER_RETURN_IF_ERROR(CheckAuxInputs(call, inputs));
  COOPER_ASSIGN_OR_RETURN(VariableSetPtr variables, UnionOfVariables(inputs));
  const NodePtr node = Node::Make({.name = name,
                                   .call = std::move(call),
                                   .inputs = std::move(inputs),
                                   .forward = nullptr,
                                   .variables = std::move(variables)});
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
