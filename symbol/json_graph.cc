#include "symbol/json_graph.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/file_kind.h"
#include "ndarray/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::json;

absl::Status Malformed(absl::string_view what, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("symbol file: ", what, " ", problem));
}

absl::Status Exceeds(absl::string_view what, int64_t limit, absl::string_view of) {
  return absl::ResourceExhaustedError(
      absl::StrCat("symbol file: more than ", limit, " ", what, ": LoadLimits::", of));
}

// Looks at the text before it is parsed: what is nested too deeply would take the parser's stack,
// and each value its memory. A value begins the text or follows a comma, a colon or a bracket.
absl::Status CheckText(absl::string_view text, const LoadLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.text_bytes) {
    return Exceeds("bytes", limits.text_bytes, "text_bytes");
  }
  int64_t depth = 0, values = 1;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++values;
      if (++depth > limits.nesting) {
        return Malformed("the text",
                         absl::StrCat("is nested deeper than ", limits.nesting, " levels"));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' || c == ':') {
      ++values;
    }
  }
  return values > limits.values ? Exceeds("values", limits.values, "values") : absl::OkStatus();
}

// The text as JSON has it: MXNet's files have control characters in strings as they are, but for
// the ends of lines, which its reader refuses too.
std::string EscapeControlCharacters(absl::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_line = c == '\n' || c == '\r';
    if (in_string && static_cast<unsigned char>(c) < 0x20 && !ends_line) {
      absl::StrAppend(&escaped, "\\u", absl::Hex(static_cast<int>(c), absl::kZeroPad4));
      continue;
    }
    escaped.push_back(c);
    if (in_string && c == '\\' && i + 1 < text.size()) {
      escaped.push_back(text[++i]);
    } else if (c == '"') {
      in_string = !in_string;
    }
  }
  return escaped;
}

absl::StatusOr<Json> ParseText(absl::string_view text, const LoadLimits& limits) {
  const std::string foreign = DescribeForeignFile(text, FileKind::kSymbol);
  if (!foreign.empty()) return Malformed("the text", absl::StrCat("is not JSON", foreign));
  COOPER_RETURN_IF_ERROR(CheckText(text, limits));
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r';
  });
  std::string escaped;
  if (has_control) {
    escaped = EscapeControlCharacters(text);
    text = escaped;
  }
  // The exception does not leave this function; the parser has no other way to tell the place.
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception& e) {
    // It quotes the last word, which may be the whole text.
    return Malformed("the text",
                     absl::StrCat("is not JSON: ", absl::string_view(e.what()).substr(0, 300)));
  }
}

bool IsUtf8(const std::string& text) {
  try {
    Json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// The field of an object; null if it has no such field.
const Json* Find(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

absl::StatusOr<const Json*> FindArray(const Json& object, const char* key,
                                      absl::string_view owner) {
  const Json* value = Find(object, key);
  if (value == nullptr) return Malformed(owner, absl::StrCat("has no '", key, "'"));
  if (!value->is_array()) return Malformed(owner, absl::StrCat("'", key, "' is not a list"));
  return value;
}

absl::StatusOr<std::string> FindText(const Json& object, const char* key, absl::string_view owner) {
  const Json* value = Find(object, key);
  if (value == nullptr) return Malformed(owner, absl::StrCat("has no '", key, "'"));
  if (!value->is_string()) return Malformed(owner, absl::StrCat("'", key, "' is not a string"));
  return value->get<std::string>();
}

// Adds a map of texts to `attrs`; what is there already stays.
absl::Status AddAttrs(const Json& node, const char* key, absl::string_view owner, AttrMap* attrs) {
  const Json* map = Find(node, key);
  if (map == nullptr) return absl::OkStatus();
  if (!map->is_object()) return Malformed(owner, absl::StrCat("'", key, "' is not an object"));
  for (const auto& [name, value] : map->items()) {
    if (!value.is_string()) {
      return Malformed(owner, absl::StrCat("'", key, "': '", name, "' is not a string"));
    }
    attrs->emplace(name, value.get<std::string>());
  }
  return absl::OkStatus();
}

// [node, output] or [node, output, version], where the node is below `limit`. The message goes on
// from the entry's owner, which is not made into text for each of a long list of inputs.
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
  if (!json.is_object()) return Malformed(owner, "is not an object");
  JsonGraph::Node node;
  COOPER_ASSIGN_OR_RETURN(node.name, FindText(json, "name", owner));
  if (static_cast<int64_t>(node.name.size()) > limits.name_bytes) {
    return Exceeds(absl::StrCat("bytes in the name of ", owner), limits.name_bytes, "name_bytes");
  }
  absl::StrAppend(&owner, " '", node.name, "'");
  COOPER_ASSIGN_OR_RETURN(node.op, FindText(json, "op", owner));
  // 1.0 and later write attrs, 0.9 attr; before that, param has the operator's own.
  for (const char* key : {"attrs", "attr", "param"}) {
    COOPER_RETURN_IF_ERROR(AddAttrs(json, key, owner, &node.attrs));
  }
  const Json* subgraphs = Find(json, "subgraphs");
  if (subgraphs != nullptr && !subgraphs->empty()) {
    return absl::UnimplementedError(
        absl::StrCat("symbol file: ", owner, " (", node.op, ") has subgraphs: control flow"));
  }
  COOPER_ASSIGN_OR_RETURN(const Json* inputs, FindArray(json, "inputs", owner));
  if (node.is_variable() && !inputs->empty()) return Malformed(owner, "is a variable with inputs");
  node.inputs.reserve(inputs->size());
  for (const Json& input : *inputs) {
    absl::StatusOr<JsonGraph::Entry> entry = ParseEntry(input, number);
    if (!entry.ok()) {
      return Malformed(absl::StrCat(owner, " input ", node.inputs.size()),
                       entry.status().message());
    }
    node.inputs.push_back(*entry);
  }
  return node;
}

// "attrs": {"mxnet_version": ["int", 10901]}
absl::StatusOr<int> ParseVersion(const Json& root) {
  const Json* attrs = Find(root, "attrs");
  if (attrs == nullptr || !attrs->is_object()) return kOldestMXNetVersion;
  const Json* version = Find(*attrs, "mxnet_version");
  if (version == nullptr) return kOldestMXNetVersion;
  if (!version->is_array() || version->size() != 2 || !(*version)[1].is_number_integer()) {
    return Malformed("mxnet_version", "is not of the form [\"int\", 10901]");
  }
  return static_cast<int>((*version)[1].get<int64_t>());
}

}  // namespace

absl::StatusOr<JsonGraph> ParseJsonGraph(absl::string_view text, const LoadLimits& limits) {
  COOPER_ASSIGN_OR_RETURN(Json root, ParseText(text, limits));
  if (!root.is_object()) return Malformed("the text", "is not a JSON object");
  JsonGraph graph;
  COOPER_ASSIGN_OR_RETURN(graph.version, ParseVersion(root));
  COOPER_ASSIGN_OR_RETURN(const Json* nodes, FindArray(root, "nodes", "the graph"));
  if (static_cast<int64_t>(nodes->size()) > limits.nodes) {
    return Exceeds("nodes", limits.nodes, "nodes");
  }
  graph.nodes.reserve(nodes->size());
  for (const Json& json : *nodes) {
    COOPER_ASSIGN_OR_RETURN(JsonGraph::Node node,
                            ParseNode(json, static_cast<int>(graph.nodes.size()), limits));
    graph.nodes.push_back(std::move(node));
  }
  COOPER_ASSIGN_OR_RETURN(const Json* heads, FindArray(root, "heads", "the graph"));
  for (const Json& head : *heads) {
    absl::StatusOr<JsonGraph::Entry> entry = ParseEntry(head, static_cast<int>(graph.nodes.size()));
    if (!entry.ok()) {
      return Malformed(absl::StrCat("head ", graph.heads.size()), entry.status().message());
    }
    graph.heads.push_back(*entry);
  }
  return graph;
}

absl::StatusOr<OpCall> MakeOpCall(const JsonGraph::Node& node) {
  if (node.is_variable()) {
    OpCall call;
    call.attrs = node.attrs;
    return call;
  }
  const std::string context = absl::StrCat(node.op, " '", node.name, "'");
  COOPER_ASSIGN_OR_RETURN(const OpSchema* op, AddContext(FindOp(node.op), context));
  COOPER_RETURN_IF_ERROR(AddContext(RefuseGradientOp(*op), context));
  COOPER_RETURN_IF_ERROR(
      AddContext(CheckVariadicCount(*op, node.attrs, node.inputs.size()), context));
  return AddContext(MakeOpCall(node.op, node.attrs, node.inputs.size()), context);
}

absl::StatusOr<OpSchema::Names> InputNamesOf(const JsonGraph::Node& node, const OpCall& call) {
  OpSchema::Names names = call.op->InputNames(call);
  if (node.inputs.size() == names.size()) return names;
  return absl::InvalidArgumentError(
      absl::StrCat(node.op, " '", node.name, "': takes ", names.size(), " inputs (",
                   absl::StrJoin(names, ", "), "), but ", node.inputs.size(), " came"));
}

absl::Status CheckTexts(const JsonGraph& graph) {
  for (const JsonGraph::Node& node : graph.nodes) {
    const absl::string_view kind = node.is_variable() ? "variable" : absl::string_view(node.op);
    if (static_cast<int64_t>(node.name.size()) > LoadLimits().name_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the name of ", kind, " '", absl::CEscape(node.name.substr(0, 40)), "...' has ",
          node.name.size(), " bytes, more than are read: LoadLimits::name_bytes"));
    }
    if (!IsUtf8(node.name)) {
      return absl::InvalidArgumentError(absl::StrCat("the name of ", kind, " '",
                                                     absl::CEscape(node.name),
                                                     "' is not UTF-8: it cannot be saved"));
    }
    for (const auto& [key, value] : node.attrs) {
      if (IsUtf8(key) && IsUtf8(value)) continue;
      return absl::InvalidArgumentError(absl::StrCat("attribute '", absl::CEscape(key), "' of ",
                                                     kind, " '", node.name,
                                                     "' is not UTF-8: it cannot be saved"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
