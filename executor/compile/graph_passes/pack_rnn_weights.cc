#include "executor/compile/graph_passes/pack_rnn_weights.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/graph_passes/graph_rebuilder.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
#include "symbol/is_op.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

// Inputs of a recurrent layer.
constexpr int kData = 0;
constexpr int kWeights[] = {1, 3};  // i2h, h2h

// Whether prediction can take packed weights: lstm and gru in float32, of which nothing is kept for
// a backward pass.
bool TakesPackedWeights(const GraphFacts& facts, int i) {
  const Node& node = facts.node(i);
  return IsOp(node, "_rnn_layer") && facts.type(node.inputs()[kData]) == DType::kFloat32 &&
         HasPackedRNNWeight(node.call().param<RNNParam>().mode) &&
         facts.is_unused({facts.owner(i), node.num_outputs() - 1}) &&
         !facts.is_constant({facts.owner(i), 0}) && absl::c_all_of(kWeights, [&](int input) {
           return facts.is_constant(node.inputs()[input]);
         });
}

absl::StatusOr<NodeEntry> MakeLayer(const GraphRebuilder& rebuilder, int i, const Node& node) {
  std::vector<NodeEntry> inputs = rebuilder.NewInputs(i);
  const auto& param = node.call().param<RNNParam>();
  for (int input : kWeights) {
    COOPER_ASSIGN_OR_RETURN(
        inputs[input],
        MakeEntry("_pack_rnn_weight", absl::StrCat(node.name(), "_packed_weight", input),
                  {inputs[input]}, {{"num_gates", absl::StrCat(RNNNumGates(param.mode))}}));
  }
  return MakeEntry("_prepared_rnn_layer", node.name(), std::move(inputs), node.attrs());
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> PackRNNWeights(const GraphFacts& facts,
                                                           const CanRunFn& can_run) {
  if (facts.has_gradients() || !can_run("_pack_rnn_weight") || !can_run("_prepared_rnn_layer")) {
    return std::nullopt;
  }
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    if (!TakesPackedWeights(facts, i)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    const Node& node = facts.node(i);
    COOPER_ASSIGN_OR_RETURN(const NodeEntry layer, MakeLayer(rebuilder, i, node));
    for (int k = 0; k < node.num_outputs(); ++k) {
      rebuilder.Replace({facts.owner(i), k}, {layer.node, k});
    }
    found = true;
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
