#ifndef COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_

// The graph pass "transposes".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Spares copies that transpose and SwapAxis would make: of two that undo each other neither is
// left; where vectors of an Embedding are put into another order, its indices are instead; and
// products of matrices (transposed_products.h) transpose their factors and their result themselves.
// Outputs of the graph stay what they are. Returns nullopt if there is nothing to spare.
absl::StatusOr<std::optional<GraphRewrite>> MoveTransposes(const GraphFacts& facts,
                                                           const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_MOVE_TRANSPOSES_H_
