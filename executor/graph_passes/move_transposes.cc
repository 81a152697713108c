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
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {
namespace {

using Axes = std::vector<int>;  // the input's axis for each of the output's

template <typename Param>
Axes AxesOf(const Param& param, int rank) {
  Axes axes;
  for (int i = 0; i < rank; ++i) axes.push_back(param.source_axis(i, rank));
  return axes;
}

// Nullopt: the node is none that puts axes into another order.
std::optional<Axes> AxesOf(const GraphFacts& facts, const Node& node) {
  const bool swaps = IsOp(node, "SwapAxis");
  if (!swaps && !IsOp(node, "transpose")) return std::nullopt;
  const int rank = facts.shape(node.inputs()[0]).rank();
  return swaps ? AxesOf(node.call().param<SwapAxisParam>(), rank)
               : AxesOf(node.call().param<TransposeParam>(), rank);
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
    rebuilder.Keep(i, rebuilder.NewInputs(i));
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
