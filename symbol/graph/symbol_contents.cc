// Methods of Symbol that list the contents of its graph: names, attributes, internals and children.

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/input_attrs.h"

namespace cooper {
namespace {

// Returns whether MXNet lists the hidden attribute without its underscores too.
bool IsListedBare(const std::string& key) {
  return key == "__ctx_group__" || key == "__lr_mult__" || key == "__wd_mult__" ||
         key == "__force_mirroring__" || key == "__mirror_stage__";
}

void AddListed(const AttrMap& attrs, AttrMap* listed) {
  for (const auto& [key, value] : attrs) {
    (*listed)[key] = value;
    if (IsListedBare(key)) listed->emplace(key.substr(2, key.size() - 4), value);
  }
}

// Returns "output 0 of Activation 'r' (node 1 of 3)". Nodes are numbered inputs first, as in symbol
// files.
std::string DescribeOutput(const NodeEntry& entry, const Symbol& symbol) {
  const std::vector<const Node*> order = TopologicalOrder(symbol.outputs());
  const auto it = std::find(order.begin(), order.end(), entry.node.get());
  return absl::StrCat("output ", entry.index, " of ", Describe(*entry.node), " (node ",
                      it - order.begin(), " of ", order.size(), ")");
}

}  // namespace

absl::StatusOr<Symbol> Symbol::Get(absl::string_view output_name) const {
  COOPER_RETURN_IF_ERROR(status_);
  const std::vector<std::string> names = ListOutputs();
  const auto it = std::find(names.begin(), names.end(), output_name);
  if (it != names.end()) {
    const NodeEntry& found = outputs_[it - names.begin()];
    for (auto other = std::find(it + 1, names.end(), output_name); other != names.end();
         other = std::find(other + 1, names.end(), output_name)) {
      const NodeEntry& entry = outputs_[other - names.begin()];
      if (entry == found) continue;  // one output, listed twice
      return absl::InvalidArgumentError(absl::StrCat(
          "two outputs are called '", output_name, "': ", DescribeOutput(found, *this), " and ",
          DescribeOutput(entry, *this), "; give one of the nodes another name"));
    }
    return Symbol({found});
  }
  std::string near = DidYouMean(output_name, names);
  // Names of outputs end in "_output", so the caller may have passed the name of a node.
  const std::string of_node = absl::StrCat(output_name, "_output");
  if (near.empty() && absl::c_linear_search(names, of_node)) {
    near = absl::StrCat("; did you mean '", of_node, "'?");
  }
  constexpr size_t kMaxNames = 10;
  const absl::Span<const std::string> shown =
      absl::MakeConstSpan(names).last(std::min(names.size(), kMaxNames));
  const std::string others = names.size() > shown.size()
                                 ? absl::StrCat(names.size() - shown.size(), " others before them")
                                 : "";
  return absl::NotFoundError(absl::StrCat("no output '", output_name, "'; the outputs are ",
                                          absl::StrJoin(shown, ", "), others.empty() ? "" : " and ",
                                          others, near));
}

std::string Symbol::name() const {
  if (outputs_.empty()) return "";
  for (const NodeEntry& output : outputs_) {
    if (output.node != outputs_[0].node) return "";
  }
  return outputs_[0].node->name();
}

VariableNames Symbol::ListVariables() const {
  const IndexedGraph graph(outputs_);
  VariableNames names;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (!graph.nodes()[i]->is_variable()) continue;
    (graph.is_aux(i) ? names.auxs : names.args).push_back(graph.nodes()[i]->name());
  }
  return names;
}

std::vector<std::string> Symbol::ListArguments() const { return ListVariables().args; }

std::vector<std::string> Symbol::ListAuxiliaryStates() const { return ListVariables().auxs; }

std::vector<std::string> Symbol::ListInputs() const {
  std::vector<std::string> names;
  for (const Node* node : TopologicalOrder(outputs_)) {
    if (node->is_variable()) names.push_back(node->name());
  }
  return names;
}

std::vector<std::string> Symbol::ListOutputs() const { return OutputNames(outputs_); }

Symbol Symbol::GetInternals() const {
  if (!status_.ok()) return *this;
  // The walk gives raw pointers; the entries need the owners.
  absl::flat_hash_map<const Node*, NodePtr> owners;
  for (const NodeEntry& output : outputs_) owners[output.node.get()] = output.node;
  const std::vector<const Node*> order = TopologicalOrder(outputs_);
  for (const Node* node : order) {
    for (const NodeEntry& input : node->inputs()) owners[input.node.get()] = input.node;
  }
  std::vector<NodeEntry> entries;
  for (const Node* node : order) {
    const int visible = node->is_variable() ? 1 : node->op()->NumVisibleOutputs(node->call());
    for (int i = 0; i < visible; ++i) entries.push_back({owners[node], i});
  }
  return Symbol(std::move(entries));
}

Symbol Symbol::GetChildren() const {
  if (!status_.ok()) return *this;
  std::vector<NodeEntry> entries;
  absl::flat_hash_set<const Node*> seen;
  for (const NodeEntry& output : outputs_) {
    if (!seen.insert(output.node.get()).second) continue;
    entries.insert(entries.end(), output.node->inputs().begin(), output.node->inputs().end());
  }
  return Symbol(std::move(entries));
}

std::optional<std::string> Symbol::Attr(const std::string& key) const {
  if (name().empty()) return std::nullopt;
  const AttrMap& attrs = outputs_[0].node->attrs();
  for (const std::string& candidate : {key, absl::StrCat("__", key, "__")}) {
    auto it = attrs.find(candidate);
    if (it != attrs.end()) return it->second;
  }
  return std::nullopt;
}

AttrMap Symbol::ListAttr() const {
  return outputs_.empty() ? AttrMap() : outputs_[0].node->attrs();
}

std::map<std::string, AttrMap> Symbol::AttrDict() const {
  std::map<std::string, AttrMap> dict;
  for (const Node* node : TopologicalOrder(outputs_)) {
    ForEachVariableInput(
        *node, [&](const Node& variable, AttrMap attrs) { dict[variable.name()].merge(attrs); });
    if (!node->attrs().empty()) AddListed(node->attrs(), &dict[node->name()]);
  }
  return dict;
}

std::map<std::string, AttrMap> Symbol::VariableAttrDict() const {
  std::map<std::string, AttrMap> dict;
  for (const Node* node : TopologicalOrder(outputs_)) {
    ForEachVariableInput(
        *node, [&](const Node& variable, AttrMap attrs) { dict[variable.name()].merge(attrs); });
    if (!node->is_variable() || node->attrs().empty()) continue;
    AddListed(node->attrs(), &dict[node->name()]);
  }
  return dict;
}

}  // namespace cooper
