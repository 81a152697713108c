#ifndef COOPER_EXECUTOR_PASSES_GRAPH_FACTS_FIXTURES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_FACTS_FIXTURES_H_

// Helpers for tests of the parts of graph passes.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor_fixtures.h"
#include "executor/passes/graph/graph_facts.h"
#include "glog/logging.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Returns the facts of a float32 graph whose shapes are inferred from `known`. It has gradients
// unless it has constants. Ends the program if `known` leaves a shape open.
inline GraphFacts FactsOf(const Symbol& symbol, const KnownShapes& known,
                          const std::set<std::string>& constants = {}) {
  const IndexedGraph graph(symbol.outputs());
  std::vector<PartialShape> shapes = VariableShapes(graph, known).value();
  CHECK(InferEntryShapes(graph, shapes).ok() && CheckShapesComplete(graph, shapes).ok());
  std::vector<Shape> full;
  full.reserve(shapes.size());
  for (const PartialShape& shape : shapes) full.push_back(shape.ToShape());
  std::vector<DType> types(full.size(), DType::kFloat32);
  return GraphFacts(symbol, std::move(full), std::move(types), constants.empty(), constants);
}

// Returns the first output of `symbol`.
inline NodeEntry EntryOf(const Symbol& symbol) { return symbol.outputs()[0]; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_FACTS_FIXTURES_H_
