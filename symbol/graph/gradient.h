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

// Returns the name of the variable that holds the caller's gradient of output `i`.
std::string HeadGradientName(int i);

// The nodes that compute the gradient of a graph. Their inputs include nodes of that graph, which
// is not changed.
struct GradientGraph {
  // The gradient of each requested variable. A null entry means that no gradient flows there: the
  // gradient is zero.
  std::vector<NodeEntry> gradients;
  // One variable per output, called HeadGradientName(i); null for outputs that start their own
  // gradient (losses) and for outputs through which no gradient flows.
  std::vector<NodeEntry> head_gradients;
  // Every added node after its inputs: a valid execution order. Some may not be needed for
  // `gradients`.
  std::vector<NodePtr> nodes;
};

// Differentiates the sum over all outputs of (head gradient i * output i) with respect to the named
// variables. Gradients that arrive on several paths are added by `_grad_sum` nodes.
//
// Fails with kNotFound if a name is no argument of `symbol` or a backward operator is not linked.
absl::StatusOr<GradientGraph> MakeGradientGraph(const Symbol& symbol,
                                                absl::Span<const std::string> wrt);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_GRADIENT_H_
