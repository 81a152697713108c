#ifndef COOPER_SYMBOL_JSON_JSON_GRAPH_H_
#define COOPER_SYMBOL_JSON_JSON_GRAPH_H_

// A symbol file as plain data: the contents of the JSON, before operators are looked up. json.h
// builds symbols from it; legacy_json.h upgrades old files.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/json/load_limits.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// 10000 * major + 100 * minor + patch, as MXNet writes its version.
inline constexpr int kMXNetVersion = 10901;
// Version of files without one, which MXNet 0.8 and older wrote.
inline constexpr int kOldestMXNetVersion = 800;

// The contents of a symbol file.
struct JsonGraph {
  struct Entry {
    int node = 0;
    int index = 0;  // of the node's outputs
    // How often earlier operators have written the variable, as in Node::Fields::input_versions:
    // kept, but not used.
    int version = 0;
  };
  struct Node {
    std::string op;  // "null": a variable
    std::string name;
    AttrMap attrs;
    int num_outputs = 1;  // set for printing only
    std::vector<Entry> inputs;
    std::vector<JsonGraph> subgraphs;  // the body of a loop; the nodes of a fused int8 layer

    bool is_variable() const { return op == "null"; }
  };

  std::vector<Node> nodes;  // each after its inputs
  std::vector<Entry> heads;
  int version = kOldestMXNetVersion;
  // Whether the file says that () is a shape and 0 an extent (npx.set_np_shape()). MXNet writes it
  // for every graph under that setting; cooper for graphs with NumPy operators. Not read: cooper's
  // shapes always allow both.
  bool is_np_shape = false;
};

// Parses the text. Guarantees that each input names an earlier node (so there is no cycle) and each
// head a node; does not check operators, attributes and output numbers.
//
// Fails with kInvalidArgument, naming the node and the place in the text, for invalid text, and
// with kResourceExhausted for text that exceeds `limits`, which count the nodes of subgraphs too. A
// layer that MXNet fused for oneDNN (_sg_mkldnn_conv and its like, which Symbol.get_backend_symbol
// creates) becomes the nodes of its subgraph, the last of which gets its name; a quantized one
// stays a node with a subgraph. O(length of the text) time and memory for any text.
absl::StatusOr<JsonGraph> ParseJsonGraph(absl::string_view text, const LoadLimits& limits = {});

// Fails with kInvalidArgument, naming the node, unless all texts are UTF-8: ParseJsonGraph would
// refuse the file.
absl::Status CheckTexts(const JsonGraph& graph);

// Returns the text that MXNet 1.9.1 writes.
std::string PrintJsonGraph(const JsonGraph& graph);

// Returns the operator of a node with parsed attributes, without its subgraphs; an empty call for a
// variable. Fails with kNotFound or kInvalidArgument, naming node and operator, also for a gradient
// operator, and with kUnimplemented for control flow that is not linked.
absl::StatusOr<OpCall> MakeOpCall(const JsonGraph::Node& node);

// Returns the input names of `call`, the call of the operator node `node`. Fails with
// kInvalidArgument, naming node and operator, if the file gives another number of inputs. Call it
// before any other function of the operator's inputs, since an attribute may request thousands that
// are missing.
absl::StatusOr<OpSchema::Names> InputNamesOf(const JsonGraph::Node& node, const OpCall& call);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_JSON_GRAPH_H_
