#ifndef COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_

// The graph pass "transposes".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Removes copies by transpose and SwapAxis: two nodes that undo each other are dropped; instead of
// the vectors of an Embedding its indices are transposed; products of matrices
// (transposed_products.h) transpose their factors and results themselves. Outputs of the graph keep
// their values. Returns nullopt if there is nothing to remove.
absl::StatusOr<std::optional<GraphRewrite>> MoveTransposes(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_
