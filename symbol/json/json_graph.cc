#include "symbol/json/json_graph.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "symbol/json/json_text.h"

namespace cooper {
namespace {

using Json = nlohmann::json;

// Returns the field of an object; null if it has no such field.
const Json* Find(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

absl::StatusOr<const Json*> FindArray(const Json& object, const char* key,
                                      absl::string_view owner) {
  const Json* value = Find(object, key);
  if (value == nullptr) return MalformedSymbol(owner, absl::StrCat("has no '", key, "'"));
  if (!value->is_array()) return MalformedSymbol(owner, absl::StrCat("'", key, "' is not a list"));
  return value;
}

absl::StatusOr<std::string> FindText(const Json& object, const char* key, absl::string_view owner) {
  const Json* value = Find(object, key);
  if (value == nullptr) return MalformedSymbol(owner, absl::StrCat("has no '", key, "'"));
  if (!value->is_string())
    return MalformedSymbol(owner, absl::StrCat("'", key, "' is not a string"));
  return value->get<std::string>();
}

// Adds a map of texts to `attrs`; existing keys keep their values.
absl::Status AddAttrs(const Json& node, const char* key, absl::string_view owner, AttrMap* attrs) {
  const Json* map = Find(node, key);
  if (map == nullptr) return absl::OkStatus();
  if (!map->is_object())
    return MalformedSymbol(owner, absl::StrCat("'", key, "' is not an object"));
  for (const auto& [name, value] : map->items()) {
    if (!value.is_string()) {
      return MalformedSymbol(owner, absl::StrCat("'", key, "': '", name, "' is not a string"));
    }
    attrs->emplace(name, value.get<std::string>());
  }
  return absl::OkStatus();
}

// Parses [node, output] or [node, output, version], where node < `limit`. Error messages begin
// after the entry's owner, so that a long list of inputs needs no text for each.
absl::StatusOr<JsonGraph::Entry> ParseEntry(const Json& json, int limit) {
  if (!json.is_array() || json.size() < 2 || json.size() > 3) {
    return absl::InvalidArgumentError("is not a pair of node and output");
  }
  for (const Json& number : json) {
    if (!number.is_number_unsigned() ||
        number.get<uint64_t>() > uint64_t{std::numeric_limits<int>::max()}) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has ", number.dump(-1, ' ', true), " where a number of a node or an output belongs"));
    }
  }
  const JsonGraph::Entry entry = {.node = json[0].get<int>(),
                                  .index = json[1].get<int>(),
                                  .version = json.size() > 2 ? json[2].get<int>() : 0};
  if (entry.node >= limit) {
    return absl::InvalidArgumentError(absl::StrCat("refers to node ", entry.node, ", but only the ",
                                                   limit, " nodes before it can be referred to"));
  }
  return entry;
}

absl::StatusOr<JsonGraph::Node> ParseNode(const Json& json, int number, const LoadLimits& limits) {
  std::string owner = absl::StrCat("node ", number);
  if (!json.is_object()) return MalformedSymbol(owner, "is not an object");
  JsonGraph::Node node;
  COOPER_ASSIGN_OR_RETURN(node.name, FindText(json, "name", owner));
  if (static_cast<int64_t>(node.name.size()) > limits.name_bytes) {
    return ExceedsLimit(absl::StrCat("bytes in the name of ", owner), limits.name_bytes,
                        "name_bytes");
  }
  absl::StrAppend(&owner, " '", node.name, "'");
  COOPER_ASSIGN_OR_RETURN(node.op, FindText(json, "op", owner));
  // MXNet 1.0 and later write `attrs`, 0.9 writes `attr`. Older versions write the operator's own
  // attributes as `param` and all others as `attr`.
  for (const char* key : {"attrs", "attr", "param"}) {
    COOPER_RETURN_IF_ERROR(AddAttrs(json, key, owner, &node.attrs));
  }
  COOPER_ASSIGN_OR_RETURN(const Json* inputs, FindArray(json, "inputs", owner));
  if (node.is_variable() && !inputs->empty())
    return MalformedSymbol(owner, "is a variable with inputs");
  node.inputs.reserve(inputs->size());
  for (const Json& input : *inputs) {
    absl::StatusOr<JsonGraph::Entry> entry = ParseEntry(input, number);
    if (!entry.ok()) {
      return MalformedSymbol(absl::StrCat(owner, " input ", node.inputs.size()),
                             entry.status().message());
    }
    node.inputs.push_back(*entry);
  }
  return node;
}

// Returns whether the node is a fused layer of oneDNN that computes with floats:
// Symbol.get_backend_symbol replaces a layer and the nodes behind it by one node with a subgraph.
// MXNet 2 calls it onednn.
bool IsFusedFloatLayer(const JsonGraph::Node& node) {
  absl::string_view op = node.op;
  if (!absl::ConsumePrefix(&op, "_sg_mkldnn_") && !absl::ConsumePrefix(&op, "_sg_onednn_")) {
    return false;
  }
  if (op != "conv" && op != "fully_connected" && op != "selfatt_qk" && op != "selfatt_valatt") {
    return false;
  }
  const auto it = node.attrs.find("quantized");
  return it == node.attrs.end() || absl::EqualsIgnoreCase(it->second, "false") || it->second == "0";
}

// Returns the subgraph of a fused layer.
absl::StatusOr<const Json*> SubgraphOfFusedLayer(const Json& subgraphs,
                                                 const JsonGraph::Node& node) {
  if (!subgraphs.is_array() || subgraphs.size() != 1 || !subgraphs[0].is_object()) {
    return absl::UnimplementedError(absl::StrCat("symbol file: node '", node.name, "' (", node.op,
                                                 ") has other than one subgraph"));
  }
  return &subgraphs[0];
}

// The place of a file's node in the graph that is read: `node`, or `outputs` of a node that was
// replaced by its subgraph.
struct Place {
  int node = 0;
  std::vector<JsonGraph::Entry> outputs;
};

absl::StatusOr<JsonGraph::Entry> Placed(const std::vector<Place>& places,
                                        const JsonGraph::Entry& entry) {
  const Place& place = places[entry.node];
  if (place.outputs.empty()) {
    return JsonGraph::Entry{.node = place.node, .index = entry.index, .version = entry.version};
  }
  if (entry.index < static_cast<int>(place.outputs.size())) return place.outputs[entry.index];
  return absl::InvalidArgumentError(absl::StrCat("refers to output ", entry.index,
                                                 " of a subgraph that has ", place.outputs.size()));
}

// Appends the nodes of a subgraph to `graph`: its variables become the inputs of `node`, in order.
// The node of the first output gets the name of `node`, which outputs and monitors use.
absl::StatusOr<Place> Inline(const Json& subgraph, const JsonGraph::Node& node,
                             const LoadLimits& limits, JsonGraph& graph) {
  const std::string owner = absl::StrCat("the subgraph of '", node.name, "'");
  COOPER_ASSIGN_OR_RETURN(const Json* nodes, FindArray(subgraph, "nodes", owner));
  COOPER_ASSIGN_OR_RETURN(const Json* heads, FindArray(subgraph, "heads", owner));
  const auto first = static_cast<int>(graph.nodes.size());
  std::vector<Place> places;
  size_t variables = 0;
  for (const Json& json : *nodes) {
    COOPER_ASSIGN_OR_RETURN(
        JsonGraph::Node inner,
        AddContext(ParseNode(json, static_cast<int>(places.size()), limits), owner));
    Place& place = places.emplace_back();
    if (inner.is_variable()) {
      if (variables == node.inputs.size())
        return MalformedSymbol(owner, "has more variables than inputs");
      place.outputs.push_back(node.inputs[variables++]);
      continue;
    }
    for (JsonGraph::Entry& input : inner.inputs) {
      COOPER_ASSIGN_OR_RETURN(input, AddContext(Placed(places, input), owner));
    }
    const Json* inner_subgraphs = Find(json, "subgraphs");
    if (inner_subgraphs != nullptr && !inner_subgraphs->empty()) {
      return MalformedSymbol(owner, "has a subgraph in it");
    }
    place.node = static_cast<int>(graph.nodes.size());
    graph.nodes.push_back(std::move(inner));
  }
  if (variables != node.inputs.size())
    return MalformedSymbol(owner, "has fewer variables than inputs");
  Place place;
  for (const Json& head : *heads) {
    absl::StatusOr<JsonGraph::Entry> entry = ParseEntry(head, static_cast<int>(places.size()));
    if (entry.ok()) entry = Placed(places, *entry);
    if (!entry.ok()) return MalformedSymbol(absl::StrCat(owner, " head"), entry.status().message());
    place.outputs.push_back(*entry);
  }
  if (place.outputs.empty()) return MalformedSymbol(owner, "has no head");
  const int last = place.outputs[0].node;
  if (last >= first) graph.nodes[last].name = node.name;
  return place;
}

// Reads "attrs": {"mxnet_version": ["int", 10901]}.
absl::StatusOr<int> ParseVersion(const Json& root) {
  const Json* attrs = Find(root, "attrs");
  if (attrs == nullptr || !attrs->is_object()) return kOldestMXNetVersion;
  const Json* version = Find(*attrs, "mxnet_version");
  if (version == nullptr) return kOldestMXNetVersion;
  if (!version->is_array() || version->size() != 2 || !(*version)[1].is_number_integer()) {
    return MalformedSymbol("mxnet_version", "is not of the form [\"int\", 10901]");
  }
  return static_cast<int>((*version)[1].get<int64_t>());
}

// Parses a graph and the subgraphs in it. The depth of recursion is limited by LoadLimits::nesting.
class GraphParser {
 public:
  GraphParser(int version, const LoadLimits& limits) : version_(version), limits_(limits) {}

  // `owner` names the graph in messages.
  absl::StatusOr<JsonGraph> Parse(const Json& json, absl::string_view owner) {
    JsonGraph graph;
    graph.version = version_;
    COOPER_ASSIGN_OR_RETURN(const Json* nodes, FindArray(json, "nodes", owner));
    COOPER_RETURN_IF_ERROR(CountNodes(nodes->size()));
    graph.nodes.reserve(nodes->size());
    std::vector<Place> places;  // of the file's nodes
    places.reserve(nodes->size());
    for (const Json& node : *nodes) {
      COOPER_RETURN_IF_ERROR(ParseNodeTo(node, places, graph));
    }
    COOPER_ASSIGN_OR_RETURN(const Json* heads, FindArray(json, "heads", owner));
    for (const Json& head : *heads) {
      absl::StatusOr<JsonGraph::Entry> entry = ParseEntry(head, static_cast<int>(places.size()));
      if (entry.ok()) entry = Placed(places, *entry);
      if (!entry.ok()) {
        return MalformedSymbol(absl::StrCat("head ", graph.heads.size()), entry.status().message());
      }
      graph.heads.push_back(*entry);
    }
    return graph;
  }

 private:
  absl::Status CountNodes(size_t count) {
    nodes_ += static_cast<int64_t>(count);
    return nodes_ > limits_.nodes ? ExceedsLimit("nodes", limits_.nodes, "nodes")
                                  : absl::OkStatus();
  }

  // Appends a node, or the nodes of its subgraph for a fused layer.
  absl::Status ParseNodeTo(const Json& json, std::vector<Place>& places, JsonGraph& graph) {
    const auto number = static_cast<int>(places.size());
    COOPER_ASSIGN_OR_RETURN(JsonGraph::Node node, ParseNode(json, number, limits_));
    const std::string owner = absl::StrCat("symbol file: node '", node.name, "'");
    for (JsonGraph::Entry& input : node.inputs) {
      COOPER_ASSIGN_OR_RETURN(input, AddContext(Placed(places, input), owner));
    }
    const Json* subgraphs = Find(json, "subgraphs");
    if (subgraphs != nullptr && !subgraphs->empty()) {
      if (IsFusedFloatLayer(node)) {
        COOPER_ASSIGN_OR_RETURN(const Json* layer, SubgraphOfFusedLayer(*subgraphs, node));
        const size_t before = graph.nodes.size();
        COOPER_ASSIGN_OR_RETURN(places.emplace_back(), Inline(*layer, node, limits_, graph));
        return CountNodes(graph.nodes.size() - before);
      }
      COOPER_RETURN_IF_ERROR(AddContext(ParseSubgraphs(*subgraphs, node), owner));
    }
    places.push_back({.node = static_cast<int>(graph.nodes.size()), .outputs = {}});
    graph.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  absl::Status ParseSubgraphs(const Json& subgraphs, JsonGraph::Node& node) {
    constexpr absl::string_view kOwner = "the subgraph";
    if (!subgraphs.is_array()) return MalformedSymbol("'subgraphs'", "is not a list");
    for (const Json& subgraph : subgraphs) {
      if (!subgraph.is_object()) return MalformedSymbol(kOwner, "is not an object");
      COOPER_ASSIGN_OR_RETURN(node.subgraphs.emplace_back(), Parse(subgraph, kOwner));
    }
    return absl::OkStatus();
  }

  int version_;
  const LoadLimits& limits_;
  int64_t nodes_ = 0;  // of all graphs
};

}  // namespace

absl::StatusOr<JsonGraph> ParseJsonGraph(absl::string_view text, const LoadLimits& limits) {
  COOPER_ASSIGN_OR_RETURN(Json root, ParseSymbolText(text, limits));
  if (!root.is_object()) return MalformedSymbol("the text", "is not a JSON object");
  COOPER_ASSIGN_OR_RETURN(const int version, ParseVersion(root));
  return GraphParser(version, limits).Parse(root, "the graph");
}

absl::StatusOr<OpCall> MakeOpCall(const JsonGraph::Node& node) {
  if (node.is_variable()) {
    OpCall call;
    call.attrs = node.attrs;
    return call;
  }
  const std::string context = absl::StrCat(node.op, " '", node.name, "'");
  const absl::StatusOr<const OpSchema*> found = FindOp(node.op);
  if (!found.ok() && !node.subgraphs.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "symbol file: node '", node.name, "' (", node.op,
        ") has subgraphs: control flow or a fused layer that is not linked or that cooper does not "
        "have"));
  }
  COOPER_ASSIGN_OR_RETURN(const OpSchema* op, AddContext(found, context));
  COOPER_RETURN_IF_ERROR(AddContext(RefuseGradientOp(*op), context));
  COOPER_RETURN_IF_ERROR(
      AddContext(CheckVariadicCount(*op, node.attrs, node.inputs.size()), context));
  return AddContext(MakeOpCall(node.op, node.attrs, node.inputs.size()), context);
}

absl::StatusOr<OpSchema::Names> InputNamesOf(const JsonGraph::Node& node, const OpCall& call) {
  OpSchema::Names names = call.op->InputNames(call);
  if (node.inputs.size() == names.size()) return names;
  return absl::InvalidArgumentError(absl::StrCat(node.op, " '", node.name, "': takes ",
                                                 names.size(), " inputs (", JoinNames(names),
                                                 "), but ", node.inputs.size(), " came"));
}

}  // namespace cooper
