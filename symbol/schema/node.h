#ifndef COOPER_SYMBOL_SCHEMA_NODE_H_
#define COOPER_SYMBOL_SCHEMA_NODE_H_

// The nodes of a graph: immutable and shared between all symbols that contain them. A node owns its
// inputs by reference counts, so a graph lives as long as a symbol that reaches it. Symbol
// (symbol/graph/symbol.h) is the interface for users; gradients, inference and graph passes work on
// nodes.

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
// Shared ownership of a node. A graph has no cycles, so counting suffices.
using NodePtr = std::shared_ptr<const Node>;

// One output of a node, with shared ownership of the node. A null node means that there is no
// value, such as an absent gradient. Equality is identity of the node, not of its contents.
struct NodeEntry {
  NodePtr node;
  int index = 0;

  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const NodeEntry& a, const NodeEntry& b) {
    return a.node == b.node && a.index == b.index;
  }
};

// An operator call or a variable. Immutable, so it may be used by several threads. The destructor
// is not recursive: chains of any length are destroyed.
class Node {
 public:
  struct Fields {
    // Not unique in a graph, except among variables (CheckVariableNames).
    std::string name;
    OpCall call;  // call.op is null for a variable
    std::vector<NodeEntry> inputs = {};
    // Set on nodes that compute a gradient: the node whose gradient it is. The shapes of that
    // node's inputs are the shapes of the gradients; its parameters are this node's too.
    NodePtr forward = nullptr;
    // The result of UnionOfVariables for the inputs; null if it was not computed. A variable needs
    // no set.
    VariableSetPtr variables = nullptr;
    // Set on nodes from a symbol file: the version of each input (how often earlier operators have
    // written the variable), -1 for versions to be counted again; missing ones are 0. Absent: all
    // versions are counted.
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
  // Returns the fields, for a modified copy.
  const Fields& fields() const { return fields_; }

  // Number of outputs, including hidden ones; 1 for a variable. Computed once, in the constructor.
  int num_outputs() const { return is_variable() ? 1 : num_op_outputs_; }

 private:
  Fields fields_;
  int num_op_outputs_ =
      is_variable() ? 1 : static_cast<int>(op()->OutputNames(fields_.call).size());
};

// Creates a node with the operator of MakeOpCall. Fails as that does.
absl::StatusOr<NodePtr> MakeNode(absl::string_view op, std::string name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs = {});

// Creates a node as MakeNode does and returns its output 0.
absl::StatusOr<NodeEntry> MakeEntry(absl::string_view op, std::string name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs = {});

// Returns "FullyConnected 'fc1'" or "variable 'data'": the name of a node in messages.
std::string Describe(const Node& node);

// Returns every node that `heads` reach once, inputs before users: depth first in the order of
// inputs, the order in which MXNet lists arguments. Not recursive, since graphs may be deep.
std::vector<const Node*> TopologicalOrder(const std::vector<NodeEntry>& heads);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_NODE_H_
