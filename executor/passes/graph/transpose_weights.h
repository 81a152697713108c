#ifndef COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Gives products their constant weights transposed: FullyConnected, and a classifier with its
// softmax, if they have more than one row. A product with a weight (features, outputs) does not
// copy it before it multiplies; with (outputs, features) the copy takes as long as 10 to 20 rows of
// the product. FoldConstants then computes the transpositions once. Returns nullopt if there is no
// such product, and for graphs with gradients.
absl::StatusOr<std::optional<GraphRewrite>> TransposeWeights(const GraphFacts& facts,
                                                             const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSE_WEIGHTS_H_
