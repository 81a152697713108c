#ifndef COOPER_SYMBOL_SCHEMA_GRADIENT_CONTEXT_H_
#define COOPER_SYMBOL_SCHEMA_GRADIENT_CONTEXT_H_

// What a gradient rule sees: a forward node and the gradients that reach its outputs. It returns
// one entry per input, the gradient with respect to it; a null entry means that none flows there,
// and so does a missing one at the end.
//
// A rule either composes other operators (Call) or makes a node of a backward operator (Backward),
// which shares the forward node's parameters. It names as inputs only the values that the
// computation really needs, since each is kept alive until then. Shapes are free: a backward node
// may ask for the shapes of the forward node's inputs without having them as inputs.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/node.h"

namespace cooper {

class GradientContext {
 public:
  // `heads[i]` is the gradient of output i, null if none reaches it. Every node that the rule makes
  // is appended to `*made`.
  GradientContext(NodePtr node, std::vector<NodeEntry> heads, std::vector<NodePtr>* made)
      : node_(std::move(node)), heads_(std::move(heads)), made_(made) {}

  const NodePtr& node() const { return node_; }
  const OpCall& call() const { return node_->call(); }
  template <typename P>
  const P& param() const {
    return node_->call().param<P>();
  }
  int num_inputs() const { return static_cast<int>(node_->inputs().size()); }
  int num_outputs() const { return static_cast<int>(heads_.size()); }
  NodeEntry input(int i) const { return node_->inputs()[i]; }
  NodeEntry output(int i) const { return {node_, i}; }

  bool has_head(int i) const { return static_cast<bool>(heads_[i]); }
  // The gradient of output i; an array of zeros if none reaches it.
  absl::StatusOr<NodeEntry> head(int i);

  // Output 0 of a new node of operator `op`. kInvalidArgument from parsing `attrs`, kNotFound if
  // the operator is not linked.
  absl::StatusOr<NodeEntry> Call(const std::string& op, std::vector<NodeEntry> inputs,
                                 AttrMap attrs = {});

  // All outputs of a new node of the backward operator `op`.
  absl::StatusOr<std::vector<NodeEntry>> Backward(const std::string& op,
                                                  std::vector<NodeEntry> inputs);

 private:
  NodePtr node_;
  std::vector<NodeEntry> heads_;
  std::vector<NodePtr>* made_;
  int num_calls_ = 0;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_GRADIENT_CONTEXT_H_
