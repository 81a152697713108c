#include "symbol/control/cut_graph.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/op.h"
#include "symbol/schema/variable_set.h"

namespace cooper {
namespace {

constexpr char kMark[] = "__subgraph_name__";

}  // namespace

AttrMap GraphMark(const std::string& name) { return {{kMark, name}}; }

CutGraph Cut(const std::vector<NodeEntry>& outputs, const std::string& name,
             const std::vector<NodeEntry>& placeholders) {
  CutGraph graph;
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
      graph.outer.push_back(entry);
      graph.inner.push_back(it->second);
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
  for (const NodeEntry& output : outputs) graph.outputs.push_back(inside(output));
  return graph;
}

absl::StatusOr<std::vector<NodeEntry>> EntriesOf(const std::vector<Symbol>& symbols,
                                                 const char* what) {
  std::vector<NodeEntry> entries;
  for (size_t i = 0; i < symbols.size(); ++i) {
    COOPER_RETURN_IF_ERROR(symbols[i].status());
    if (symbols[i].num_outputs() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " ", i, " has ", symbols[i].num_outputs(), " outputs, expected one"));
    }
    entries.push_back(symbols[i].outputs()[0]);
  }
  return entries;
}

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

absl::StatusOr<std::vector<NodeEntry>> WithoutVariables(std::vector<NodeEntry> entries,
                                                        const std::string& name) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].node->is_variable()) continue;
    COOPER_ASSIGN_OR_RETURN(entries[i], MakeEntry("_copy", absl::StrCat(name, "_copy", i),
                                                  {entries[i]}, GraphMark(name)));
  }
  return entries;
}

std::vector<int64_t> SharedInputs::Add(const CutGraph& graph,
                                       const std::vector<NodeEntry>& placeholders) {
  absl::flat_hash_map<const Node*, std::pair<const Node*, int>> keys;  // by variable
  for (size_t k = 0; k < placeholders.size(); ++k) {
    keys[placeholders[k].node.get()] = {nullptr, static_cast<int>(k)};
  }
  for (size_t k = 0; k < graph.inner.size(); ++k) {
    keys[graph.inner[k].node.get()] = {graph.outer[k].node.get(), graph.outer[k].index};
  }
  absl::flat_hash_map<const Node*, NodeEntry> outer;
  for (const NodeEntry& entry : graph.outer) outer.emplace(entry.node.get(), entry);
  std::vector<int64_t> positions;
  for (const Node* node : TopologicalOrder(graph.outputs)) {
    if (!node->is_variable()) continue;
    const auto& [owner, index] = keys.at(node);
    const auto [it, is_new] =
        positions_.try_emplace({owner, index}, static_cast<int64_t>(inputs_.size()));
    if (is_new) {
      inputs_.push_back(owner == nullptr ? values_[index] : NodeEntry{outer.at(owner).node, index});
    }
    positions.push_back(it->second);
  }
  return positions;
}

absl::StatusOr<std::vector<int64_t>> PositionsOf(const std::vector<NodeEntry>& outputs,
                                                 const std::vector<NodeEntry>& entries,
                                                 const char* what) {
  absl::flat_hash_map<const Node*, int64_t> position;
  for (const Node* node : TopologicalOrder(outputs)) {
    if (node->is_variable()) position.emplace(node, static_cast<int64_t>(position.size()));
  }
  std::vector<int64_t> positions;
  positions.reserve(entries.size());
  for (const NodeEntry& entry : entries) {
    const auto it = position.find(entry.node.get());
    if (it == position.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the body does not read ", what, " ", positions.size(), ": leave it out"));
    }
    positions.push_back(it->second);
  }
  return positions;
}

absl::StatusOr<NodePtr> MakeControlNode(const char* op, const std::string& name, AttrMap attrs,
                                        std::vector<NodeEntry> inputs,
                                        std::vector<std::vector<NodeEntry>> graphs) {
  for (const auto& [key, value] : AttrScope::Current()) attrs.emplace(key, value);
  attrs["num_args"] = absl::StrCat(inputs.size() + graphs.size());
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(op, std::move(attrs), inputs.size()));
  call.subgraphs = std::make_shared<const std::vector<std::vector<NodeEntry>>>(std::move(graphs));
  COOPER_RETURN_IF_ERROR(call.op->CheckSubgraphs(call));
  COOPER_RETURN_IF_ERROR(CheckAuxInputs(call, inputs));
  COOPER_ASSIGN_OR_RETURN(VariableSetPtr variables, UnionOfVariables(inputs));
  return Node::Make({.name = name,
                     .call = std::move(call),
                     .inputs = std::move(inputs),
                     .forward = nullptr,
                     .variables = std::move(variables)});
}

}  // namespace cooper
