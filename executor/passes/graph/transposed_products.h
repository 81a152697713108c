#ifndef COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_

// Moves transpositions into products of matrices with `transpose_a` and `transpose_b`: dot of
// matrices, batch_dot, and linalg_gemm and linalg_gemm2 with the axis of rows next to the last.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "symbol/schema/node.h"

namespace cooper {

// The input's axis for each axis of the output.
using Axes = std::vector<int>;

// Returns the permutation of a node that permutes the axes of its input, of rank `rank`; otherwise
// nullopt.
std::optional<Axes> TransposedAxes(const Node& node, int rank);

// Returns `node` as a product that reads the inputs of the transpositions of its factors. Returns
// nullopt if it is no product, or if no factor is transposed.
absl::StatusOr<std::optional<NodeEntry>> ProductOfUntransposed(const GraphFacts& facts,
                                                               const GraphRebuilder& rebuilder,
                                                               const Node& node);

// Returns the transposition of `input` by `axes` as a product of its own, (A B)^T = B^T A^T, if the
// axes transpose matrices and `input` is a product that has no other users. Returns nullopt
// otherwise, and for products that add a matrix, which would have to be transposed.
absl::StatusOr<std::optional<NodeEntry>> TransposedProduct(const GraphFacts& facts,
                                                           const GraphRebuilder& rebuilder,
                                                           const Axes& axes,
                                                           const NodeEntry& input);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_TRANSPOSED_PRODUCTS_H_
