#include "symbol/visualization/entry_shapes.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<PartialShape>> EntryShapes(const Symbol& symbol,
                                                      const IndexedGraph& graph,
                                                      const KnownShapes& known) {
  const Symbol internals = symbol.GetInternals();
  COOPER_ASSIGN_OR_RETURN(const InferredShapes inferred, InferShapePartial(internals, known));
  std::vector<PartialShape> shapes(graph.num_entries());
  for (size_t i = 0; i < internals.outputs().size(); ++i) {
    shapes[graph.entry(internals.outputs()[i])] = inferred.outputs[i];
  }
  return shapes;
}

std::string ShapeWithoutBatch(const PartialShape& shape) {
  std::string text;
  for (int axis = 1; axis < shape.rank(); ++axis) {
    if (axis > 1) text += 'x';
    absl::StrAppend(&text, shape.dim_known(axis) ? absl::StrCat(shape[axis]) : "?");
  }
  return text;
}

}  // namespace cooper
