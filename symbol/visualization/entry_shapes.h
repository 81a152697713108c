#ifndef COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_
#define COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_

// The shapes of a graph's inner nodes, and how MXNet's tables and pictures write them.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// What can be inferred of each entry of `graph`, which is `symbol`'s. Outputs that only gradients
// use stay unknown. Fails as InferShapePartial does.
absl::StatusOr<std::vector<PartialShape>> EntryShapes(const Symbol& symbol,
                                                      const IndexedGraph& graph,
                                                      const KnownShapes& known);

// "20x24x24" for (32, 20, 24, 24): the first axis, which is the batch's, is left out; "?" stands
// for an unknown extent. Empty if nothing is known or nothing is left.
std::string ShapeWithoutBatch(const PartialShape& shape);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_ENTRY_SHAPES_H_
