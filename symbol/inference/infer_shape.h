#ifndef COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_
#define COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_

// Finds the shapes of a graph's arguments, outputs and auxiliary states from those that are known.
// Links no kernel and needs no data. Information flows both ways, from inputs to outputs and back,
// until nothing changes any more.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

struct InferredShapes {
  std::vector<PartialShape> args;     // in the order of Symbol::ListArguments
  std::vector<PartialShape> outputs;  // of Symbol::ListOutputs
  std::vector<PartialShape> auxs;     // of Symbol::ListAuxiliaryStates
  // Whether every shape is known in full.
  bool complete = false;
};

using KnownShapes = std::map<std::string, PartialShape>;

// What can be known; incomplete shapes are no error. `known` gives shapes of arguments and
// auxiliary states by name; a variable without one has its `__shape__` attribute as a default.
//
// Fails with kInvalidArgument if the shapes contradict each other, naming node, operator, input,
// both shapes and the shapes of the node's inputs, and with kNotFound if a name in `known` is no
// variable of the graph.
absl::StatusOr<InferredShapes> InferShapePartial(const Symbol& symbol, const KnownShapes& known);

// As InferShapePartial, but kFailedPrecondition, naming the variables whose shape is missing and
// the first node that could not be decided, unless everything becomes known.
absl::StatusOr<InferredShapes> InferShape(const Symbol& symbol, const KnownShapes& known);

// For callers that need the shapes of inner nodes too. What is known of each entry before
// inference: of variables, `known` and `__shape__`; nothing of others. Names in `known` that are no
// variables are passed over.
absl::StatusOr<std::vector<PartialShape>> VariableShapes(const IndexedGraph& graph,
                                                         const KnownShapes& known);

// The engine on a numbered graph: refines one shape per entry in place.
absl::Status InferEntryShapes(const IndexedGraph& graph, std::vector<PartialShape>& shapes);

// kFailedPrecondition that says which shapes are missing, if some are; kInvalidArgument, naming the
// node, for a shape whose bytes cannot be counted.
absl::Status CheckShapesComplete(const IndexedGraph& graph,
                                 const std::vector<PartialShape>& shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_SHAPE_H_
