#ifndef COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_
#define COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_

// Finds the shapes of a graph's arguments, outputs and auxiliary states from those that are known.
// Links no kernel and needs no data. Information flows both ways, from inputs to outputs and back,
// until nothing changes.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The shapes of a symbol. Unknown extents are kUnknownDim.
struct InferredShapes {
  std::vector<PartialShape> args;     // in the order of Symbol::ListArguments
  std::vector<PartialShape> outputs;  // of Symbol::ListOutputs
  std::vector<PartialShape> auxs;     // of Symbol::ListAuxiliaryStates
  // Whether every shape is known in full.
  bool complete = false;
};

// Shapes by the name of a variable; extents may be unknown.
using KnownShapes = std::map<std::string, PartialShape>;

// Infers as many shapes as possible; unknown shapes are no error. `known` gives shapes of arguments
// and auxiliary states by name; the attribute `__shape__` is the default of a variable.
// Thread-safe. For networks in their usual order it takes time linear in the graph: a few visits of
// each node.
//
// Fails with kInvalidArgument if the shapes contradict each other, naming node, operator, input,
// both shapes and the shapes of the node's inputs, and with kNotFound if a name in `known` is no
// variable of the graph. An error of the symbol itself is returned first.
absl::StatusOr<InferredShapes> InferShapePartial(const Symbol& symbol, const KnownShapes& known);

// Infers shapes as InferShapePartial does, but fails with kFailedPrecondition, naming the variables
// without a shape and the first undecided node, unless every shape is known.
absl::StatusOr<InferredShapes> InferShape(const Symbol& symbol, const KnownShapes& known);

// Returns the shape of each entry before inference: for a variable that of `known` or `__shape__`,
// for other entries an unknown shape. For callers that need the shapes of inner nodes, which they
// infer with InferEntryShapes. Names in `known` that are no variables are ignored.
absl::StatusOr<std::vector<PartialShape>> VariableShapes(const IndexedGraph& graph,
                                                         const KnownShapes& known);

// Refines one shape per entry in place. Fails as InferShapePartial does.
absl::Status InferEntryShapes(const IndexedGraph& graph, std::vector<PartialShape>& shapes);

// Fails with kFailedPrecondition, naming the missing shapes, if some are unknown, and with
// kInvalidArgument, naming the node, for a shape whose size in bytes overflows.
absl::Status CheckShapesComplete(const IndexedGraph& graph,
                                 const std::vector<PartialShape>& shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_
