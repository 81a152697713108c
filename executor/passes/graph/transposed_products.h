#ifndef COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_

// Products of matrices that transpose their factors or their result themselves, with `transpose_a`
// and `transpose_b`: dot of matrices, batch_dot, linalg_gemm and linalg_gemm2 with rows before
// columns.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "symbol/schema/node.h"

namespace cooper {

// By axis of the output, the input's.
using Axes = std::vector<int>;

// Nullopt if the node does not put the axes of its input, of this rank, into another order.
std::optional<Axes> TransposedAxes(const Node& node, int rank);

// `node` as a product whose factors are read as they are before they are transposed. nullopt if it
// is no product, or none of its factors is transposed.
absl::StatusOr<std::optional<NodeEntry>> ProductOfUntransposed(const GraphFacts& facts,
                                                               const GraphRebuilder& rebuilder,
                                                               const Node& node);

// What a node with `axes` makes of `input`, if that is a product which nobody else needs and the
// axes transpose its matrices: (A B)^T = B^T A^T. nullopt if it is not, or adds a matrix, which
// would have to be transposed.
absl::StatusOr<std::optional<NodeEntry>> TransposedProduct(const GraphFacts& facts,
                                                           const GraphRebuilder& rebuilder,
                                                           const Axes& axes,
                                                           const NodeEntry& input);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_
