#ifndef COOPER_MODULE_ONNX_RECURRENCE_H_
#define COOPER_MODULE_ONNX_RECURRENCE_H_

// Replaces unrolled recurrent cells by layers over whole sequences, with the graph passes of the
// executor (docs/passes_recurrent.md), so that one model serves all lengths.

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

// Returns `symbol` with a _rnn_layer in place of the steps of each recurrent layer, which also
// takes the lengths of a SequenceMask behind it. `shapes` and `types` are those of the variables,
// from which all others follow. Errors: those of inference.
absl::StatusOr<Symbol> FuseRecurrence(const Symbol& symbol, const KnownShapes& shapes,
                                      const KnownTypes& types);

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_RECURRENCE_H_
