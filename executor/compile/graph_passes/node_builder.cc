#include "executor/compile/graph_passes/node_builder.h"

#include <utility>

#include "ndarray/status_macros.h"

namespace cooper {

absl::StatusOr<NodePtr> MakeNode(const char* op, const std::string& name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs) {
  OpCall call;
  COOPER_ASSIGN_OR_RETURN(call.op, FindOp(op));
  call.attrs = std::move(attrs);
  if (call.op->params() != nullptr) {
    COOPER_ASSIGN_OR_RETURN(call.params, call.op->params()->Parse(call.attrs));
  }
  return Node::Make({.name = name,
                     .call = std::move(call),
                     .inputs = std::move(inputs),
                     .forward = nullptr,
                     .variables = nullptr});
}

absl::StatusOr<NodeEntry> MakeEntry(const char* op, const std::string& name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs) {
  COOPER_ASSIGN_OR_RETURN(NodePtr node, MakeNode(op, name, std::move(inputs), std::move(attrs)));
  return NodeEntry{std::move(node), 0};
}

}  // namespace cooper
