#ifndef COOPER_SYMBOL_INFERENCE_NODE_SHAPES_H_
#define COOPER_SYMBOL_INFERENCE_NODE_SHAPES_H_

// Infers the shapes of one node: for runs in which shapes become known step by step. For whole
// graphs use infer_shape.h.

#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {

// Refines the shapes of the outputs of node `i` of `graph`, which is no variable, by its rule and
// the shapes of its inputs, and of the inputs of the node whose gradient it computes. `shapes` has
// one element for each entry; those of inputs do not change. Fails as InferShapePartial does
// (infer_shape.h), for instance if the inputs' shapes contradict each other.
absl::Status InferNodeShapes(const IndexedGraph& graph, int i, std::vector<PartialShape>& shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_NODE_SHAPES_H_
