#ifndef COOPER_SYMBOL_SCHEMA_COUNTED_SHAPES_H_
#define COOPER_SYMBOL_SCHEMA_COUNTED_SHAPES_H_

// Helpers for operators whose outputs have shapes that depend on the values of the inputs
// (OpSchema::counts_rows). The shapes that their rules infer are the largest. The kernel writes
// each output densely in its true shape, and the true shapes to the last output, a hidden int64
// vector that holds the extents of all outputs before it, one after the other.

#include "absl/status/status.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns whether the shapes of the node's outputs are known only after its kernel has run. An
// operator may count for some of its calls only: those that have the hidden output.
inline bool CountsShapes(const Node& node) {
  return !node.is_variable() && node.op()->counts_rows() &&
         node.num_outputs() > node.op()->NumVisibleOutputs(node.call());
}

// Gives the last output its shape. Shape rules must call it once they have set the ranks of the
// outputs before it; while one is unknown it does nothing.
absl::Status SetShapesOutput(ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_COUNTED_SHAPES_H_
