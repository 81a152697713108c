#include "executor/compile/graph_passes/transpose_weights.h"

#include <cstdint>
#include <string>
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

enum Input { kData, kWeight };

// The operator that takes the weight of a product transposed; empty if there is none.
std::string WithTransposedWeight(const Node& node) {
  if (IsOp(node, "FullyConnected")) return "_fully_connected_transposed";
  if (IsOp(node, "_fc_softmax_output")) return "_fc_softmax_output_transposed";
  return "";
}

// Whether the product has one row, which reads the weight as fast either way.
bool HasOneRow(const GraphFacts& facts, const Node& node) {
  const int64_t input_dim = facts.shape(node.inputs()[kWeight])[1];
  return facts.shape(node.inputs()[kData]).num_elements() <= input_dim;
}

absl::StatusOr<NodeEntry> MakeProduct(const GraphRebuilder& rebuilder, int i, const Node& node,
                                      const std::string& op) {
  std::vector<NodeEntry> inputs = rebuilder.NewInputs(i);
  COOPER_ASSIGN_OR_RETURN(
      inputs[kWeight],
      MakeEntry("transpose", absl::StrCat(node.name(), "_weight_transposed"), {inputs[kWeight]}));
  return MakeEntry(op, node.name(), std::move(inputs), node.attrs());
}

// Of a recurrent layer.
constexpr int kLayerWeights[] = {1, 3};  // i2h, h2h

// Whether prediction can take packed weights: lstm and gru in float32, of which nothing is kept for
// a backward pass.
bool TakesPackedWeights(const GraphFacts& facts, int i, const CanRunFn& can_run) {
  const Node& node = facts.node(i);
  if (!IsOp(node, "_rnn_layer") || !can_run("_prepared_rnn_layer") ||
      !can_run("_pack_rnn_weight") || facts.type(node.inputs()[kData]) != DType::kFloat32 ||
      facts.is_constant({facts.owner(i), 0}) ||
      !facts.is_unused({facts.owner(i), node.num_outputs() - 1})) {
    return false;
  }
  const RNNMode mode = node.call().param<RNNParam>().mode;
  return (mode == RNNMode::kLstm || mode == RNNMode::kGru) &&
         absl::c_all_of(kLayerWeights,
                        [&](int input) { return facts.is_constant(node.inputs()[input]); });
}

absl::StatusOr<NodeEntry> MakeLayer(const GraphRebuilder& rebuilder, int i, const Node& node) {
  std::vector<NodeEntry> inputs = rebuilder.NewInputs(i);
  const auto& param = node.call().param<RNNParam>();
  for (int input : kLayerWeights) {
    COOPER_ASSIGN_OR_RETURN(
        inputs[input],
        MakeEntry("_pack_rnn_weight", absl::StrCat(node.name(), "_packed_weight", input),
                  {inputs[input]}, {{"num_gates", absl::StrCat(RNNNumGates(param.mode))}}));
  }
  return MakeEntry("_prepared_rnn_layer", node.name(), std::move(inputs), node.attrs());
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> TransposeWeights(const GraphFacts& facts,
                                                             const CanRunFn& can_run) {
  if (facts.has_gradients() || !can_run("transpose")) return std::nullopt;
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    if (TakesPackedWeights(facts, i, can_run)) {
      COOPER_ASSIGN_OR_RETURN(const NodeEntry layer, MakeLayer(rebuilder, i, node));
      for (int k = 0; k < node.num_outputs(); ++k) {
        rebuilder.Replace({facts.owner(i), k}, {layer.node, k});
      }
      found = true;
      continue;
    }
    const std::string op = node.is_variable() ? "" : WithTransposedWeight(node);
    if (op.empty() || !can_run(op) || !facts.is_constant(node.inputs()[kWeight]) ||
        facts.is_constant({facts.owner(i), 0}) || HasOneRow(facts, node)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(NodeEntry product, MakeProduct(rebuilder, i, node, op));
    rebuilder.Replace({facts.owner(i), 0}, std::move(product));
    found = true;
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
