#ifndef COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Gives products the transposed weight where it is a constant: FullyConnected, and a classifier
// with its softmax. A product with a weight of (features, outputs) copies nothing of it before it
// multiplies; with one of (outputs, features) the copy takes as long as 10 to 20 rows of the
// product. FoldConstants then computes the transpositions once.
absl::StatusOr<std::optional<GraphRewrite>> TransposeWeights(const GraphFacts& facts,
                                                             const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_
