#include "executor/passes/graph/transposed_products.h"

#include <string>
#include <utility>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/dot_param.h"
#include "symbol/ops/linalg/la_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// The parameters of a product of two matrices.
struct Product {
  // Whether it transposes each of the two factors.
  bool transposes[2] = {false, false};
  // The factors' axis of rows; the last axis has the columns.
  int rows_axis = -2;

  // Returns whether the matrices of factors of this rank are in the last two axes.
  bool takes_matrices(int rank) const {
    return rank >= 2 && (rows_axis == -2 || rows_axis == rank - 2);
  }
};

template <typename P>
Product ProductOf(const P& param, int rows_axis) {
  return {.transposes = {param.transpose_a, param.transpose_b}, .rows_axis = rows_axis};
}

std::optional<Product> AsProduct(const Node& node) {
  // For factors of higher rank dot multiplies along other axes.
  if (IsOp(node, "dot")) return ProductOf(node.call().param<DotParam>(), /*rows_axis=*/0);
  if (IsOp(node, "batch_dot")) return ProductOf(node.call().param<DotParam>(), /*rows_axis=*/-2);
  const auto of_linalg = [](const LaGemm2Param& param) { return ProductOf(param, param.axis); };
  if (IsOp(node, "_linalg_gemm2")) return of_linalg(node.call().param<LaGemm2Param>());
  if (IsOp(node, "_linalg_gemm")) return of_linalg(node.call().param<LaGemmParam>());
  return std::nullopt;
}

// Returns a product like `node` with other factors.
absl::StatusOr<NodeEntry> MakeProduct(const Node& node, std::vector<NodeEntry> inputs,
                                      bool transpose_a, bool transpose_b) {
  AttrMap attrs = node.attrs();
  attrs["transpose_a"] = transpose_a ? "True" : "False";
  attrs["transpose_b"] = transpose_b ? "True" : "False";
  return MakeEntry(node.op()->name().c_str(), node.name(), std::move(inputs), std::move(attrs));
}

// Returns whether the axes exchange the last two axes only.
bool TransposesMatrices(const Axes& axes) {
  const int rank = static_cast<int>(axes.size());
  for (int i = 0; i < rank - 2; ++i) {
    if (axes[i] != i) return false;
  }
  return rank >= 2 && axes[rank - 1] == rank - 2;
}

}  // namespace

std::optional<Axes> TransposedAxes(const Node& node, int rank) {
  if (node.is_variable() || !node.op()->transposed_axes()) return std::nullopt;
  return node.op()->transposed_axes()(node.call(), rank);
}

absl::StatusOr<std::optional<NodeEntry>> ProductOfUntransposed(const GraphFacts& facts,
                                                               const GraphRebuilder& rebuilder,
                                                               const Node& node) {
  std::optional<Product> product = AsProduct(node);
  if (!product.has_value()) return std::nullopt;
  std::vector<NodeEntry> inputs;
  for (const NodeEntry& input : node.inputs()) inputs.push_back(rebuilder.New(input));
  bool found = false;
  for (int i = 0; i < 2; ++i) {
    const int rank = facts.shape(node.inputs()[i]).rank();
    if (!product->takes_matrices(rank)) continue;
    const std::optional<Axes> axes = TransposedAxes(*inputs[i].node, rank);
    if (!axes.has_value() || !TransposesMatrices(*axes)) continue;
    inputs[i] =
        NodeEntry(inputs[i].node->inputs()[0]);  // a copy: the assignment may destroy the node
    product->transposes[i] = !product->transposes[i];
    found = true;
  }
  if (!found) return std::nullopt;
  return MakeProduct(node, std::move(inputs), product->transposes[0], product->transposes[1]);
}

absl::StatusOr<std::optional<NodeEntry>> TransposedProduct(const GraphFacts& facts,
                                                           const GraphRebuilder& rebuilder,
                                                           const Axes& axes,
                                                           const NodeEntry& input) {
  if (!TransposesMatrices(axes) || facts.uses(input).size() != 1 || facts.is_output(input)) {
    return std::nullopt;
  }
  const std::vector<NodeEntry>& factors = input.node->inputs();
  const Node& node = *rebuilder.New(input).node;  // its factors may have been replaced
  const std::optional<Product> product = AsProduct(node);
  if (!product.has_value() || factors.size() != 2) return std::nullopt;
  for (const NodeEntry& factor : factors) {
    if (!product->takes_matrices(facts.shape(factor).rank())) return std::nullopt;
  }
  return MakeProduct(node, {node.inputs()[1], node.inputs()[0]}, !product->transposes[1],
                     !product->transposes[0]);
}

}  // namespace cooper
