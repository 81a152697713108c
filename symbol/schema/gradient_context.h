#ifndef COOPER_SYMBOL_SCHEMA_GRADIENT_CONTEXT_H_
#define COOPER_SYMBOL_SCHEMA_GRADIENT_CONTEXT_H_

// The interface of gradient rules: a forward node and the gradients of its outputs. A rule returns
// one entry per input, the gradient with respect to it; a null entry, or a missing one at the end,
// means that no gradient flows there.
//
// A rule either composes other operators (Call) or creates a node of a backward operator
// (Backward), which shares the forward node's parameters. It should use as inputs only the values
// that the computation needs, since each input is kept alive until the backward pass. Shapes need
// no inputs: a backward node's rules may read the shapes of the forward node's inputs.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/node.h"

namespace cooper {

// The arguments of one call of a gradient rule. Used by one thread; lives for that call only.
class GradientContext {
 public:
  // `heads[i]` is the gradient of output i, null if none reaches it. Every node that the rule
  // creates is appended to `*made`, which must outlive this.
  GradientContext(NodePtr node, std::vector<NodeEntry> heads, std::vector<NodePtr>* made)
      : node_(std::move(node)), heads_(std::move(heads)), made_(made) {}

  // The forward node, its operator call and its parameters.
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

  // Returns whether a gradient reaches output i.
  bool has_head(int i) const { return static_cast<bool>(heads_[i]); }
  // Returns the gradient of output i; an array of zeros if none reaches it (a new zeros_like node,
  // made at the first call). Fails with kNotFound if zeros_like is not linked. Rules test has_head
  // first if they can save work.
  absl::StatusOr<NodeEntry> head(int i);

  // Returns output 0 of a new node of operator `op`, called "<forward node>_backward<n>_<op>".
  // Fails with kInvalidArgument if `attrs` do not parse, and with kNotFound if the operator is not
  // linked.
  absl::StatusOr<NodeEntry> Call(const std::string& op, std::vector<NodeEntry> inputs,
                                 AttrMap attrs = {});

  // Returns all outputs of a new node of the backward operator `op`, in its order. The node has the
  // forward node's attributes and parameters, and is linked to it (Node::Fields::forward), so that
  // its rules find the shapes of the forward inputs. Fails with kNotFound if the operator is not
  // linked.
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
