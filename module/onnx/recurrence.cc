#include "module/onnx/recurrence.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "executor/passes/graph/fuse_rnn_layers.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/passes/graph/rnn_lengths.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {
namespace {

using Pass = absl::StatusOr<std::optional<GraphRewrite>> (*)(const GraphFacts& facts,
                                                             const CanRunFn& can_run);

absl::StatusOr<Symbol> Apply(Pass pass, const Symbol& symbol, const KnownShapes& shapes,
                             const KnownTypes& types) {
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> partial, VariableShapes(graph, shapes));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, partial));
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, partial));
  COOPER_ASSIGN_OR_RETURN(auto known_types, VariableTypes(graph, types));
  COOPER_RETURN_IF_ERROR(InferEntryTypes(graph, known_types));
  std::vector<Shape> full;
  for (const PartialShape& shape : partial) full.push_back(shape.ToShape());
  std::vector<DType> dtypes;
  for (const std::optional<DType>& type : known_types) {
    dtypes.push_back(type.value_or(DType::kFloat32));
  }
  const GraphFacts facts(symbol, std::move(full), std::move(dtypes), /*has_gradients=*/false);
  // The layers become operators of ONNX: no kernel has to run them.
  COOPER_ASSIGN_OR_RETURN(std::optional<GraphRewrite> rewrite,
                          pass(facts, [](absl::string_view) { return true; }));
  return rewrite.has_value() ? rewrite->symbol : symbol;
}

}  // namespace

absl::StatusOr<Symbol> FuseRecurrence(const Symbol& symbol, const KnownShapes& shapes,
                                      const KnownTypes& types) {
  COOPER_ASSIGN_OR_RETURN(const Symbol fused, Apply(FuseRNNLayers, symbol, shapes, types));
  return Apply(MoveLengthsIntoRNNLayers, fused, shapes, types);
}

}  // namespace cooper
