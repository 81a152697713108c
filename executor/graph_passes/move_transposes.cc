#include "executor/graph_passes/move_transposes.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/graph_passes/graph_rebuilder.h"
#include "executor/graph_passes/node_builder.h"
#include "ndarray/status_macros.h"
#include "symbol/is_op.h"
#include "symbol/ops/linalg/dot_param.h"
#include "symbol/ops/shape/transpose_axes.h"

namespace cooper {
namespace {

using Axes = std::vector<int>;  // the input's axis for each of the output's

std::optional<Axes> AxesOf(const GraphFacts& facts, const Node& node) {
  if (node.inputs().empty()) return std::nullopt;
  return TransposeAxes(node, facts.shape(node.inputs()[0]).rank());
}

// Whether a node with `axes` undoes the one that makes its input.
bool Undoes(const GraphFacts& facts, const Axes& axes, const NodeEntry& input) {
  const std::optional<Axes> before = AxesOf(facts, *input.node);
  if (!before.has_value()) return false;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
    if ((*before)[axes[i]] != i) return false;
  }
  return true;
}

// Whether `input` is an Embedding that nobody else uses, whose vectors stay vectors.
bool MovesVectors(const GraphFacts& facts, const Axes& axes, const NodeEntry& input) {
  return IsOp(*input.node, "Embedding") && facts.uses(input).size() == 1 &&
         !facts.is_output(input) && !axes.empty() &&
         axes.back() == static_cast<int>(axes.size()) - 1;
}

// An Embedding whose indices are in the order that its vectors are to have.
absl::StatusOr<NodeEntry> MakeEmbedding(const GraphRebuilder& rebuilder, const Node& embedding,
                                        Axes axes) {
  axes.pop_back();
  COOPER_ASSIGN_OR_RETURN(NodeEntry indices,
                          MakeEntry("transpose", absl::StrCat(embedding.name(), "_indices"),
                                    {rebuilder.New(embedding.inputs()[0])},
                                    {{"axes", absl::StrCat("(", absl::StrJoin(axes, ","), ",)")}}));
  return MakeEntry("Embedding", embedding.name(),
                   {std::move(indices), rebuilder.New(embedding.inputs()[1])}, embedding.attrs());
}

// Whether the last two axes change places, and no others do.
bool TransposesMatrices(const Axes& axes) {
  const int rank = static_cast<int>(axes.size());
  for (int i = 0; i < rank - 2; ++i) {
    if (axes[i] != i) return false;
  }
  return rank >= 2 && axes[rank - 1] == rank - 2;
}

// What `input`, of this rank, has the matrices of, transposed; nullopt if it is none that a product
// of this kind could transpose itself.
std::optional<NodeEntry> TransposedMatrices(const Node& product, const NodeEntry& input, int rank) {
  if (IsOp(product, "dot") && rank != 2) return std::nullopt;
  const std::optional<Axes> axes = TransposeAxes(*input.node, rank);
  if (!axes.has_value() || !TransposesMatrices(*axes)) return std::nullopt;
  return input.node->inputs()[0];
}

// A product that transposes its inputs itself; nullopt if there are none to be transposed.
absl::StatusOr<std::optional<NodeEntry>> MakeProduct(const GraphFacts& facts,
                                                     const GraphRebuilder& rebuilder,
                                                     const Node& product) {
  if (!IsOp(product, "dot") && !IsOp(product, "batch_dot")) return std::nullopt;
  const auto& param = product.call().param<DotParam>();
  std::vector<NodeEntry> inputs;
  bool transposes[] = {param.transpose_a, param.transpose_b};
  bool found = false;
  for (size_t i = 0; i < 2; ++i) {
    const int rank = facts.shape(product.inputs()[i]).rank();
    const NodeEntry& input = rebuilder.New(product.inputs()[i]);
    const std::optional<NodeEntry> matrices = TransposedMatrices(product, input, rank);
    inputs.push_back(matrices.value_or(input));
    if (!matrices.has_value()) continue;
    transposes[i] = !transposes[i];
    found = true;
  }
  if (!found) return std::nullopt;
  AttrMap attrs = product.attrs();
  attrs["transpose_a"] = transposes[0] ? "True" : "False";
  attrs["transpose_b"] = transposes[1] ? "True" : "False";
  return MakeEntry(product.op()->name().c_str(), product.name(), std::move(inputs),
                   std::move(attrs));
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> MoveTransposes(const GraphFacts& facts,
                                                           const CanRunFn& can_run) {
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    const NodeEntry output{facts.owner(i), 0};
    const std::optional<Axes> axes = AxesOf(facts, node);
    if (axes.has_value() && !facts.is_output(output)) {
      const NodeEntry& input = node.inputs()[0];
      if (Undoes(facts, *axes, input)) {
        rebuilder.Replace(output, rebuilder.New(input.node->inputs()[0]));
        found = true;
        continue;
      }
      if (MovesVectors(facts, *axes, input) && can_run("transpose")) {
        COOPER_ASSIGN_OR_RETURN(NodeEntry embedding, MakeEmbedding(rebuilder, *input.node, *axes));
        rebuilder.Replace(output, std::move(embedding));
        found = true;
        continue;
      }
    }
    COOPER_ASSIGN_OR_RETURN(std::optional<NodeEntry> product, MakeProduct(facts, rebuilder, node));
    if (product.has_value()) {
      rebuilder.Replace(output, *std::move(product));
      found = true;
      continue;
    }
    rebuilder.Keep(i, rebuilder.NewInputs(i));
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
