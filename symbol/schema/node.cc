#include "symbol/schema/node.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Destroys chains of nodes without recursion: an unrolled network is a chain of thousands of nodes
// and would overflow the stack.
Node::~Node() {
  std::vector<NodePtr> pending;
  auto take = [&pending](Fields& fields) {
    for (NodeEntry& entry : fields.inputs) pending.push_back(std::move(entry.node));
    if (fields.forward) pending.push_back(std::move(fields.forward));
  };
  take(fields_);
  while (!pending.empty()) {
    NodePtr node = std::move(pending.back());
    pending.pop_back();
    // This is the last owner, so no one else can access the node and it may be modified.
    if (node.use_count() == 1) take(const_cast<Node*>(node.get())->fields_);
  }
}

absl::StatusOr<NodePtr> MakeNode(absl::string_view op, std::string name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs) {
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(op, std::move(attrs), inputs.size()));
  return Node::Make(
      {.name = std::move(name), .call = std::move(call), .inputs = std::move(inputs)});
}

absl::StatusOr<NodeEntry> MakeEntry(absl::string_view op, std::string name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs) {
  COOPER_ASSIGN_OR_RETURN(NodePtr node,
                          MakeNode(op, std::move(name), std::move(inputs), std::move(attrs)));
  return NodeEntry{std::move(node), 0};
}

std::string Describe(const Node& node) {
  return absl::StrCat(node.is_variable() ? "variable" : node.op()->name(), " '", node.name(), "'");
}

std::vector<const Node*> TopologicalOrder(const std::vector<NodeEntry>& heads) {
  std::vector<const Node*> order;
  absl::flat_hash_set<const Node*> seen;
  std::vector<std::pair<const Node*, size_t>> stack;  // a node and its next input to visit
  for (const NodeEntry& head : heads) {
    if (!head || !seen.insert(head.node.get()).second) continue;
    stack.emplace_back(head.node.get(), 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == node->inputs().size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Node* input = node->inputs()[next++].node.get();
      if (seen.insert(input).second) stack.emplace_back(input, 0);
    }
  }
  return order;
}

}  // namespace cooper
