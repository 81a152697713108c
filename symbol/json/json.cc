#include "symbol/json/json.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/json/json_graph.h"
#include "symbol/json/legacy_json.h"
#include "symbol/json/merge_variables.h"
#include "symbol/schema/input_attrs.h"

namespace cooper {
namespace {

absl::StatusOr<NodeEntry> MakeEntry(const std::vector<NodePtr>& nodes,
                                    const JsonGraph::Entry& entry) {
  const NodePtr& node = nodes[entry.node];
  if (entry.index >= node->num_outputs()) {
    return absl::InvalidArgumentError(absl::StrCat("refers to output ", entry.index, " of ",
                                                   Describe(*node), ", which has ",
                                                   node->num_outputs()));
  }
  return NodeEntry{node, entry.index};
}

// Returns the versions of the inputs; empty if all are 0, as in most files.
std::vector<int> VersionsOf(const JsonGraph::Node& json) {
  std::vector<int> versions;
  for (size_t i = 0; i < json.inputs.size(); ++i) {
    if (json.inputs[i].version == 0) continue;
    versions.resize(json.inputs.size(), 0);
    versions[i] = json.inputs[i].version;
  }
  return versions;
}

// Creates the graph of `json` and returns its outputs. `outputs` counts those of all nodes.
absl::StatusOr<std::vector<NodeEntry>> MakeGraph(JsonGraph json, const LoadLimits& limits,
                                                 int64_t& outputs);

// Creates the node of `json`, whose inputs are in `nodes`. It has no variable set, which
// composition computes where it needs it.
absl::StatusOr<NodePtr> MakeNode(const std::vector<NodePtr>& nodes, JsonGraph::Node json,
                                 const LoadLimits& limits, int64_t& outputs) {
  Node::Fields fields;
  fields.name = json.name;
  COOPER_ASSIGN_OR_RETURN(fields.call, MakeOpCall(json));
  if (json.is_variable()) return Node::Make(std::move(fields));
  const std::string owner = absl::StrCat(json.op, " '", json.name, "'");
  if (!json.subgraphs.empty()) {
    std::vector<std::vector<NodeEntry>> subgraphs;
    for (JsonGraph& subgraph : json.subgraphs) {
      COOPER_ASSIGN_OR_RETURN(
          subgraphs.emplace_back(),
          AddContext(MakeGraph(std::move(subgraph), limits, outputs), owner, " subgraph"));
    }
    fields.call.subgraphs =
        std::make_shared<const std::vector<std::vector<NodeEntry>>>(std::move(subgraphs));
  }
  COOPER_RETURN_IF_ERROR(AddContext(fields.call.op->CheckSubgraphs(fields.call), owner));
  COOPER_ASSIGN_OR_RETURN(const OpSchema::Names names, InputNamesOf(json, fields.call));
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StatusOr<NodeEntry> entry = MakeEntry(nodes, json.inputs[i]);
    if (!entry.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(owner, ": input '", names[i], "' ", entry.status().message()));
    }
    fields.inputs.push_back(*std::move(entry));
  }
  COOPER_RETURN_IF_ERROR(AddContext(CheckAuxInputs(fields.call, fields.inputs), owner));
  fields.input_versions = VersionsOf(json);
  return Node::Make(std::move(fields));
}

// MXNet counts for each variable how often earlier operators have written it, and stores the count
// with each use. A file's counts are kept; new nodes are counted in their order.
void NumberVersions(const IndexedGraph& graph, JsonGraph* json) {
  constexpr int kMax = std::numeric_limits<int>::max();  // a file may claim so many
  std::vector<int> written(json->nodes.size(), 0);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (node.is_variable()) continue;
    std::vector<JsonGraph::Entry>& inputs = json->nodes[i].inputs;
    const std::optional<std::vector<int>>& known = node.fields().input_versions;
    for (size_t k = 0; k < inputs.size(); ++k) {
      inputs[k].version = !known.has_value() ? -1 : k < known->size() ? (*known)[k] : 0;
    }
    for (int aux : node.op()->AuxInputs(node.call())) {
      int& count = written[inputs[aux].node];
      if (inputs[aux].version < 0) inputs[aux].version = count + (count < kMax ? 1 : 0);
      count = std::max(count, inputs[aux].version);
    }
    for (JsonGraph::Entry& input : inputs) {
      if (input.version < 0) input.version = written[input.node];
    }
  }
}

absl::StatusOr<std::vector<NodeEntry>> MakeGraph(JsonGraph json, const LoadLimits& limits,
                                                 int64_t& outputs) {
  COOPER_RETURN_IF_ERROR(UpgradeJsonGraph(limits, &json));
  COOPER_RETURN_IF_ERROR(MergeVariablesOfOneName(&json));
  std::vector<NodePtr> nodes;
  nodes.reserve(json.nodes.size());
  for (JsonGraph::Node& json_node : json.nodes) {
    COOPER_ASSIGN_OR_RETURN(NodePtr node, MakeNode(nodes, std::move(json_node), limits, outputs));
    outputs += node->num_outputs();
    if (outputs > limits.outputs) {
      return absl::ResourceExhaustedError(
          absl::StrCat("symbol file: with ", Describe(*node), " there are ", outputs,
                       " outputs, more than ", limits.outputs, ": LoadLimits::outputs"));
    }
    nodes.push_back(std::move(node));
  }
  std::vector<NodeEntry> heads;
  for (const JsonGraph::Entry& head : json.heads) {
    absl::StatusOr<NodeEntry> entry = MakeEntry(nodes, head);
    if (!entry.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol file: head ", heads.size(), " ", entry.status().message()));
    }
    heads.push_back(*std::move(entry));
  }
  return heads;
}

bool HasNumpyOperators(const std::vector<NodeEntry>& outputs) {
  const IndexedGraph graph(outputs);
  return absl::c_any_of(graph.nodes(), [](const Node* node) {
    if (node->is_variable()) return false;
    if (node->op()->family() == "numpy") return true;
    const auto& subgraphs = node->call().subgraphs;
    return subgraphs != nullptr && absl::c_any_of(*subgraphs, [](const auto& subgraph) {
             return HasNumpyOperators(subgraph);
           });
  });
}

JsonGraph ToJsonGraph(const std::vector<NodeEntry>& outputs) {
  const IndexedGraph graph(outputs);
  const auto number = [&](const NodeEntry& entry) -> JsonGraph::Entry {
    return {.node = graph.node_index(entry.node.get()), .index = entry.index, .version = 0};
  };
  JsonGraph json;
  json.version = kMXNetVersion;
  json.is_np_shape = HasNumpyOperators(outputs);
  for (const Node* node : graph.nodes()) {
    JsonGraph::Node& out = json.nodes.emplace_back();
    out.op = node->is_variable() ? "null" : node->op()->name();
    out.name = node->name();
    out.attrs = node->attrs();
    out.num_outputs = node->num_outputs();
    for (const NodeEntry& input : node->inputs()) out.inputs.push_back(number(input));
    if (node->call().subgraphs != nullptr) {
      for (const auto& subgraph : *node->call().subgraphs) {
        out.subgraphs.push_back(ToJsonGraph(subgraph));
      }
    }
    ForEachVariableInput(*node, [&](const Node& variable, AttrMap attrs) {
      json.nodes[graph.node_index(&variable)].attrs.merge(attrs);
    });
  }
  for (const NodeEntry& head : outputs) json.heads.push_back(number(head));
  NumberVersions(graph, &json);
  return json;
}

}  // namespace

absl::StatusOr<Symbol> SymbolFromJson(absl::string_view text, const LoadLimits& limits) {
  COOPER_ASSIGN_OR_RETURN(JsonGraph graph, ParseJsonGraph(text, limits));
  int64_t outputs = 0;
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> heads,
                          MakeGraph(std::move(graph), limits, outputs));
  return Symbol(std::move(heads));
}

std::string SymbolToJson(const Symbol& symbol) {
  CHECK(symbol.status().ok()) << "a symbol that could not be made has no JSON: " << symbol.status();
  return PrintJsonGraph(ToJsonGraph(symbol.outputs()));
}

bool HasNumpyOperators(const Symbol& symbol) { return HasNumpyOperators(symbol.outputs()); }

absl::StatusOr<Symbol> LoadSymbol(const std::string& path, const LoadLimits& limits) {
  const absl::StatusOr<std::string> text = ReadFile(path, limits.text_bytes);
  if (absl::IsResourceExhausted(text.status())) {
    return absl::ResourceExhaustedError(
        absl::StrCat(text.status().message(), "; LoadLimits::text_bytes is ", limits.text_bytes));
  }
  COOPER_RETURN_IF_ERROR(text.status());
  return AddContext(SymbolFromJson(*text, limits), "'", path, "'");
}

absl::Status SaveSymbol(const std::string& path, const Symbol& symbol) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const JsonGraph json = ToJsonGraph(symbol.outputs());
  COOPER_RETURN_IF_ERROR(AddContext(CheckTexts(json), "'", path, "'"));
  return WriteFileAtomically(path, PrintJsonGraph(json));
}

}  // namespace cooper
