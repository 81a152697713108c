#include "symbol/schema/gradient_context.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<NodeEntry> GradientContext::head(int i) {
  if (!heads_[i]) {
    COOPER_ASSIGN_OR_RETURN(heads_[i], Call("zeros_like", {output(i)}));
  }
  return heads_[i];
}

absl::StatusOr<NodeEntry> GradientContext::Call(const std::string& op,
                                                std::vector<NodeEntry> inputs, AttrMap attrs) {
  std::string name = absl::StrCat(node_->name(), "_backward", num_calls_++, "_", op);
  COOPER_ASSIGN_OR_RETURN(NodePtr node,
                          MakeNode(op, std::move(name), std::move(inputs), std::move(attrs)));
  made_->push_back(std::move(node));
  return NodeEntry{made_->back(), 0};
}

absl::StatusOr<std::vector<NodeEntry>> GradientContext::Backward(const std::string& op,
                                                                 std::vector<NodeEntry> inputs) {
  OpCall call = node_->call();
  COOPER_ASSIGN_OR_RETURN(call.op, FindOp(op));
  NodePtr node = Node::Make({.name = absl::StrCat(node_->name(), "_backward"),
                             .call = std::move(call),
                             .inputs = std::move(inputs),
                             .forward = node_});
  made_->push_back(node);
  std::vector<NodeEntry> outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({node, i});
  return outputs;
}

}  // namespace cooper
