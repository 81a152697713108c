#ifndef COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_

// The graph pass "batched_products".

#include <optional>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Makes one FullyConnected of those with the same weight and bias whose data, of equal shape and
// two axes, can all be there before the first of them is run: what is done at every time step
// without regard to the others, as the products of all inputs of a recurrent cell that no pass
// knows. The data is put behind each other, or taken from where it was split, and the result is
// split again; the gradients of weight and data are one product each. Returns nullopt if there are
// none. Left alone are products of many rows, for which the copies would be large, and those that
// only a SoftmaxOutput uses, most of which the pass "softmax_output" takes.
absl::StatusOr<std::optional<GraphRewrite>> BatchProducts(const GraphFacts& facts,
                                                          const CanRunFn& can_run);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_BATCH_PRODUCTS_H_
