#ifndef COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_

// The graph pass "batched_products".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Merges FullyConnected nodes with the same weight and bias into one, if their data have equal
// shapes of two axes and none depends on another's result. Such products occur at every time step
// of recurrent cells that no pass recognises. The data are concatenated, or taken from the array
// that they were split from, and the result is split; the gradients of weight and data are one
// product each. Returns nullopt if there is nothing to merge. Products with many rows are not
// merged, because their copies would be large. Neither are products that only a SoftmaxOutput uses:
// the pass "softmax_output" fuses most of them.
absl::StatusOr<std::optional<GraphRewrite>> BatchProducts(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_
