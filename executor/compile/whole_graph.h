#ifndef COOPER_EXECUTOR_COMPILE_WHOLE_GRAPH_H_
#define COOPER_EXECUTOR_COMPILE_WHOLE_GRAPH_H_

// A forward graph and the graph of its gradients as one.

#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The forward nodes, numbered as in `forward`, then the head gradients, then what computes the
// gradients: an order in which they can be run. Both graphs must outlive the result.
IndexedGraph WholeGraph(const IndexedGraph& forward, const GradientGraph& gradient);

// Shapes by entry of the whole graph of `symbol`, from those of its forward graph. The errors of
// InferEntryShapes.
absl::StatusOr<std::vector<PartialShape>> InferWholeShapes(
    const Symbol& symbol, const GradientGraph& gradient, const IndexedGraph& whole,
    std::vector<PartialShape> forward_shapes);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_WHOLE_GRAPH_H_
