#ifndef COOPER_SYMBOL_SCHEMA_NODE_H_
#define COOPER_SYMBOL_SCHEMA_NODE_H_

// The graph: nodes that never change once made, shared between all symbols that contain them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/schema/op.h"
#include "symbol/schema/variable_set.h"

namespace cooper {

class Node;
using NodePtr = std::shared_ptr<const Node>;

// One output of a node. A null node stands for "nothing": an absent gradient.
struct NodeEntry {
  NodePtr node;
  int index = 0;

  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const NodeEntry& a, const NodeEntry& b) {
    return a.node == b.node && a.index == b.index;
  }
};

class Node {
 public:
  struct Fields {
    std::string name;
    OpCall call;  // call.op is null for a variable
    std::vector<NodeEntry> inputs = {};
    // Set on nodes that compute a gradient: the node whose gradient it is. Its input shapes are the
    // shapes of the gradients; its parameters are this node's too.
    NodePtr forward = nullptr;
    // What UnionOfVariables gives for the inputs; null where nobody needed it. A variable's own set
    // is found without it.
    VariableSetPtr variables = nullptr;
    // Of a node that a symbol file has: the version that it says of each input (how often operators
    // made before have written the variable), or -1 where it is to be counted anew; those that are
    // missing are 0. Absent: all are to be counted.
    std::optional<std::vector<int>> input_versions = std::nullopt;
  };

  static NodePtr Make(Fields fields) { return std::make_shared<const Node>(std::move(fields)); }

  explicit Node(Fields fields) : fields_(std::move(fields)) {}
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const std::string& name() const { return fields_.name; }
  bool is_variable() const { return fields_.call.op == nullptr; }
  const OpSchema* op() const { return fields_.call.op; }
  const OpCall& call() const { return fields_.call; }
  const AttrMap& attrs() const { return fields_.call.attrs; }
  const std::vector<NodeEntry>& inputs() const { return fields_.inputs; }
  const NodePtr& forward() const { return fields_.forward; }
  // The fields, to make a changed copy of.
  const Fields& fields() const { return fields_; }

  int num_outputs() const { return is_variable() ? 1 : num_op_outputs_; }

 private:
  Fields fields_;
  int num_op_outputs_ =
      is_variable() ? 1 : static_cast<int>(op()->OutputNames(fields_.call).size());
};

// A new node of MakeOpCall's operator. Fails as that does.
absl::StatusOr<NodePtr> MakeNode(absl::string_view op, std::string name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs = {});

// Output 0 of such a node.
absl::StatusOr<NodeEntry> MakeEntry(absl::string_view op, std::string name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs = {});

// "FullyConnected 'fc1'", "variable 'data'": how messages name a node.
std::string Describe(const Node& node);

// Every node that `heads` reach, inputs before users, each once: depth first in the order of
// inputs, the order in which MXNet lists arguments. Does not recurse: graphs may be deep.
std::vector<const Node*> TopologicalOrder(const std::vector<NodeEntry>& heads);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_NODE_H_
