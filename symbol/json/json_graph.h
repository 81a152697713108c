#ifndef COOPER_SYMBOL_JSON_JSON_GRAPH_H_
#define COOPER_SYMBOL_JSON_JSON_GRAPH_H_

// A symbol file as plain data: what stands in the JSON, before operators are looked up. json.h
// makes symbols of it; legacy_json.h brings old files up to date.

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
// Files of 0.8 and before do not say their version.
inline constexpr int kOldestMXNetVersion = 800;

struct JsonGraph {
  struct Entry {
    int node = 0;
    int index = 0;  // of the node's outputs
    // How often the variable was written before, as Node::Fields::input_versions has it: kept, but
    // not used.
    int version = 0;
  };
  struct Node {
    std::string op;  // "null": a variable
    std::string name;
    AttrMap attrs;
    std::vector<Entry> inputs;

    bool is_variable() const { return op == "null"; }
  };

  std::vector<Node> nodes;  // each after its inputs
  std::vector<Entry> heads;
  int version = kOldestMXNetVersion;
};

// Reads the text. Guarantees that each input names an earlier node (so that there is no cycle), and
// each head a node; operators, attributes and output numbers are not looked at.
//
// Fails with kInvalidArgument, naming the node and the place in the text, if it is anything else,
// and with kUnimplemented for graphs with control flow, and with kResourceExhausted for what
// exceeds `limits`. A layer that MXNet fused for oneDNN (_sg_mkldnn_conv,
// _sg_mkldnn_fully_connected, which Symbol.get_backend_symbol makes) becomes the nodes of its
// subgraph, the last of which gets its name; quantized ones are kUnimplemented. Takes time and
// memory in proportion to the text, whatever it is.
absl::StatusOr<JsonGraph> ParseJsonGraph(absl::string_view text, const LoadLimits& limits = {});

// kInvalidArgument, naming the node, unless its texts are UTF-8: of others JSON has no form that
// ParseJsonGraph reads.
absl::Status CheckTexts(const JsonGraph& graph);

// The text that MXNet 1.9.1 writes. `num_outputs` has the number of outputs of each node.
std::string PrintJsonGraph(const JsonGraph& graph, const std::vector<int>& num_outputs);

// The operator that a node calls, its attributes parsed; an empty call for a variable. kNotFound or
// kInvalidArgument, naming node and operator, also for an operator of gradients.
absl::StatusOr<OpCall> MakeOpCall(const JsonGraph::Node& node);

// The names of the inputs of `call`, which is that of `node`, an operator's. kInvalidArgument,
// naming node and operator, if the file gives it another number of inputs. Comes before whatever
// else an operator says of its inputs, since an attribute may count thousands that are not there.
absl::StatusOr<OpSchema::Names> InputNamesOf(const JsonGraph::Node& node, const OpCall& call);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_JSON_GRAPH_H_
