#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "symbol/json/json_graph.h"

namespace cooper {
namespace {

// Escapes as dmlc-core's JSONWriter does. Other control characters stay unescaped, which is not
// valid JSON, but MXNet's reader does not accept \u.
void AppendQuoted(absl::string_view text, std::string* out) {
  constexpr absl::string_view kSpecial = "\"\\\n\r\t";
  constexpr absl::string_view kLetters = "\"\\nrt";
  out->push_back('"');
  for (char c : text) {
    if (const size_t i = kSpecial.find(c); i != absl::string_view::npos) {
      absl::StrAppend(out, "\\", kLetters.substr(i, 1));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

// Writes nested lists and objects as MXNet's writer (dmlc-core's JSONWriter) lays them out: a scope
// is either on one line or has each element on a line of its own, two spaces per level, and a comma
// is followed by a space in both.
class Printer {
 public:
  void Open(char bracket, bool multi_line) {
    out_.push_back(bracket);
    scopes_.push_back({.multi_line = multi_line, .empty = true});
  }
  void Close(char bracket) {
    const Scope scope = scopes_.back();
    scopes_.pop_back();
    if (scope.multi_line && !scope.empty) NewLine();
    out_.push_back(bracket);
  }
  // Starts an element.
  void Next() {
    if (!scopes_.back().empty) out_.append(", ");
    scopes_.back().empty = false;
    NewLine();
  }
  void Key(absl::string_view key) {
    Next();
    AppendQuoted(key, &out_);
    out_.append(": ");
  }
  void Text(absl::string_view text) { AppendQuoted(text, &out_); }
  void Number(int64_t value) { absl::StrAppend(&out_, value); }

  // Lists of more than this are put on several lines.
  static constexpr size_t kLongList = 10;

  void Entries(const std::vector<JsonGraph::Entry>& entries) {
    Open('[', entries.size() > kLongList);
    for (const JsonGraph::Entry& entry : entries) {
      Next();
      Numbers({entry.node, entry.index, entry.version});
    }
    Close(']');
  }
  void Numbers(const std::vector<int64_t>& numbers) {
    Open('[', numbers.size() > kLongList);
    for (int64_t number : numbers) {
      Next();
      Number(number);
    }
    Close(']');
  }

  // Writes an attribute of the graph, ["int", 10901].
  void TypedInt(absl::string_view key, int64_t value) {
    Key(key);
    Open('[', false);
    Next();
    Text("int");
    Next();
    Number(value);
    Close(']');
  }

  std::string Take() { return std::move(out_); }

 private:
  struct Scope {
    bool multi_line;
    bool empty;
  };

  void NewLine() {
    if (!scopes_.empty() && !scopes_.back().multi_line) return;
    out_.push_back('\n');
    out_.append(2 * scopes_.size(), ' ');
  }

  std::string out_;
  std::vector<Scope> scopes_;
};

void PrintGraph(const JsonGraph& graph, bool is_root, Printer* p);

void PrintNode(const JsonGraph::Node& node, Printer* p) {
  p->Open('{', true);
  p->Key("op");
  p->Text(node.op);
  p->Key("name");
  p->Text(node.name);
  if (!node.attrs.empty()) {
    p->Key("attrs");
    p->Open('{', node.attrs.size() > 1);
    for (const auto& [key, value] : node.attrs) {
      p->Key(key);
      p->Text(value);
    }
    p->Close('}');
  }
  p->Key("inputs");
  p->Entries(node.inputs);
  if (!node.subgraphs.empty()) {
    p->Key("subgraphs");
    p->Open('[', true);
    for (const JsonGraph& subgraph : node.subgraphs) {
      p->Next();
      PrintGraph(subgraph, /*is_root=*/false, p);
    }
    p->Close(']');
  }
  p->Close('}');
}

// Prints the version in the root alone.
void PrintGraph(const JsonGraph& graph, bool is_root, Printer* p) {
  std::vector<int64_t> arg_nodes, row_ptr = {0};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].is_variable()) arg_nodes.push_back(static_cast<int64_t>(i));
    row_ptr.push_back(row_ptr.back() + graph.nodes[i].num_outputs);
  }
  p->Open('{', true);
  p->Key("nodes");
  p->Open('[', true);
  for (const JsonGraph::Node& node : graph.nodes) {
    p->Next();
    PrintNode(node, p);
  }
  p->Close(']');
  p->Key("arg_nodes");
  p->Numbers(arg_nodes);
  p->Key("node_row_ptr");
  p->Numbers(row_ptr);
  p->Key("heads");
  p->Entries(graph.heads);
  if (is_root) {
    p->Key("attrs");
    p->Open('{', graph.is_np_shape);
    if (graph.is_np_shape) p->TypedInt("is_np_shape", 1);
    p->TypedInt("mxnet_version", graph.version);
    p->Close('}');
  }
  p->Close('}');
}

bool IsUtf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

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
    for (const JsonGraph& subgraph : node.subgraphs) {
      COOPER_RETURN_IF_ERROR(
          AddContext(CheckTexts(subgraph), "in the subgraph of '", node.name, "'"));
    }
  }
  return absl::OkStatus();
}

std::string PrintJsonGraph(const JsonGraph& graph) {
  Printer p;
  PrintGraph(graph, /*is_root=*/true, &p);
  return p.Take();
}

}  // namespace cooper
