#ifndef COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_
#define COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_

// Shapes of a graph's inner nodes, and their text in MXNet's tables and pictures.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Infers the shape of each entry of `graph`, the graph of `symbol`. Outputs that only gradients use
// stay unknown. Fails as InferShapePartial does. The result has a shape for each number of
// IndexedGraph::entry.
absl::StatusOr<std::vector<PartialShape>> EntryShapes(const Symbol& symbol,
                                                      const IndexedGraph& graph,
                                                      const KnownShapes& known);

// Returns "20x24x24" for (32, 20, 24, 24): the first axis, the batch, is left out; "?" is an
// unknown extent. Empty if the rank is unknown or no axis remains.
std::string ShapeWithoutBatch(const PartialShape& shape);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_
