#ifndef COOPER_SYMBOL_GRAPH_GRADIENT_H_
#define COOPER_SYMBOL_GRAPH_GRADIENT_H_

// Reverse-mode differentiation as a transformation of graphs: adds to a graph the nodes that
// compute the gradients of its outputs. Shapes are not needed. MXNet: src/nnvm/gradient.cc.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Name of the variable that holds the gradient which the caller gives for output `i`.
std::string HeadGradientName(int i);

struct GradientGraph {
  // One per requested variable: its gradient. Null if no gradient flows there: it is zero.
  std::vector<NodeEntry> gradients;
  // One variable per output, called HeadGradientName(i); null for outputs that start from
  // themselves (losses) or that gradients do not flow through.
  std::vector<NodeEntry> head_gradients;
  // Every node that was added, each after its inputs: an order in which they can be run. Some may
  // be of no use to `gradients`.
  std::vector<NodePtr> nodes;
};

// Differentiates the sum over all outputs of (head gradient i * output i) with respect to the named
// variables. Gradients that arrive on several ways are added by `_grad_sum` nodes.
//
// Fails with kNotFound if a name is no argument of `symbol` or a backward operator is not linked.
absl::StatusOr<GradientGraph> MakeGradientGraph(const Symbol& symbol,
                                                absl::Span<const std::string> wrt);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_GRADIENT_H_
