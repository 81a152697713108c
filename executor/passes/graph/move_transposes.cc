#include "executor/passes/graph/move_transposes.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/transposed_products.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

std::optional<Axes> AxesOf(const GraphFacts& facts, const Node& node) {
  if (node.inputs().empty()) return std::nullopt;
  return TransposedAxes(node, facts.shape(node.inputs()[0]).rank());
}

// Returns whether a node with `axes` undoes the node that computes its input.
bool Undoes(const GraphFacts& facts, const Axes& axes, const NodeEntry& input) {
  const std::optional<Axes> before = AxesOf(facts, *input.node);
  if (!before.has_value()) return false;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
    if ((*before)[axes[i]] != i) return false;
  }
  return true;
}

// Returns whether a user of node `i`, a transposition, undoes it; then the input of the node is
// needed too.
bool IsUndone(const GraphFacts& facts, int i) {
  const NodeEntry output{facts.owner(i), 0};
  return absl::c_any_of(facts.uses(output), [&](const GraphFacts::Use& use) {
    const std::optional<Axes> axes = AxesOf(facts, facts.node(use.node));
    return axes.has_value() && Undoes(facts, *axes, output);
  });
}

// Returns whether `input` is an Embedding of more than one axis of indices without other users, and
// whether `axes` keep its vectors intact.
bool MovesVectors(const GraphFacts& facts, const Axes& axes, const NodeEntry& input) {
  return IsOp(*input.node, "Embedding") && facts.uses(input).size() == 1 &&
         !facts.is_output(input) && axes.size() > 1 &&
         axes.back() == static_cast<int>(axes.size()) - 1;
}

// Returns an Embedding with permuted indices, whose vectors are in the new order.
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

// Returns a replacement of node `i` that needs fewer copies; nullopt if there is none.
absl::StatusOr<std::optional<NodeEntry>> RemoveCopies(const GraphFacts& facts,
                                                      const GraphRebuilder& rebuilder,
                                                      const CanRunFn& can_run, int i) {
  const Node& node = facts.node(i);
  const std::optional<Axes> axes = AxesOf(facts, node);
  if (!axes.has_value()) return ProductOfUntransposed(facts, rebuilder, node);
  if (facts.is_output({facts.owner(i), 0})) return std::nullopt;
  const NodeEntry& input = node.inputs()[0];
  if (Undoes(facts, *axes, input)) return rebuilder.New(input.node->inputs()[0]);
  if (IsUndone(facts, i)) return std::nullopt;
  if (MovesVectors(facts, *axes, input) && can_run("transpose")) {
    return MakeEmbedding(rebuilder, *input.node, *axes);
  }
  return TransposedProduct(facts, rebuilder, *axes, input);
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> MoveTransposes(const GraphFacts& facts,
                                                           const CanRunFn& can_run) {
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    COOPER_ASSIGN_OR_RETURN(std::optional<NodeEntry> entry,
                            RemoveCopies(facts, rebuilder, can_run, i));
    if (!entry.has_value()) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    rebuilder.Replace({facts.owner(i), 0}, *std::move(entry));
    found = true;
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
