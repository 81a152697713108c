#include "executor/passes/graph/fold_batch_norms.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/passes/graph/filter_norms.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// The inputs of both operators.
enum Input { kData, kWeight, kBias };

// Returns whether the node's output has its filters along axis 1.
bool HasFilters(const Node& node) {
  if (IsOp(node, "Convolution")) return !ChannelsLast(node.call().param<ConvolutionParam>().layout);
  return IsOp(node, "FullyConnected") && node.call().param<FullyConnectedParam>().flatten;
}

// Returns whether node `i` is a BatchNorm over the filters of the node before it, which has no
// other user, and whether all inputs of both but the data are constants.
bool Folds(const GraphFacts& facts, int i) {
  if (!NormalizesChannels(facts, i) || facts.is_constant({facts.owner(i), 0})) return false;
  const Node& norm = facts.node(i);
  const NodeEntry& filtered = norm.inputs()[0];
  if (!HasFilters(*filtered.node) || facts.uses(filtered).size() != 1 ||
      facts.is_output(filtered)) {
    return false;
  }
  const auto constant = [&](const NodeEntry& entry) { return facts.is_constant(entry); };
  return std::all_of(norm.inputs().begin() + 1, norm.inputs().end(), constant) &&
         std::all_of(filtered.node->inputs().begin() + 1, filtered.node->inputs().end(), constant);
}

// Returns the node before node `i` with its weight and bias changed.
absl::StatusOr<NodeEntry> Folded(const GraphFacts& facts, const GraphRebuilder& rebuilder, int i) {
  const Node& norm = facts.node(i);
  const NodeEntry& filtered = norm.inputs()[0];
  const std::vector<NodeEntry> inputs = rebuilder.NewInputs(facts.index(filtered));
  const std::vector<NodeEntry> of_norm = rebuilder.NewInputs(i);
  COOPER_ASSIGN_OR_RETURN(
      Filters folded, FoldBatchNorm(norm.name(),
                                    {.weight = inputs[kWeight],
                                     .bias = inputs.size() > kBias ? inputs[kBias] : NodeEntry()},
                                    absl::MakeConstSpan(of_norm).subspan(1), norm.attrs()));
  AttrMap attrs = filtered.node->attrs();
  attrs["no_bias"] = "False";
  return MakeEntry(filtered.node->op()->name(), norm.name(),
                   {inputs[kData], std::move(folded.weight), std::move(folded.bias)},
                   std::move(attrs));
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> FoldBatchNorms(const GraphFacts& facts,
                                                           const CanRunFn& can_run) {
  if (facts.has_gradients() || !can_run("_folded_batch_norm")) return std::nullopt;
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    if (!Folds(facts, i)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(NodeEntry folded, Folded(facts, rebuilder, i));
    rebuilder.Replace({facts.owner(i), 0}, std::move(folded));
    found = true;
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
