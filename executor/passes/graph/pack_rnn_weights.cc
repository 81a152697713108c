#include "executor/passes/graph/pack_rnn_weights.h"

#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/prepared_rnn_arguments.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// The inputs and outputs of a recurrent layer.
constexpr int kData = 0;
constexpr int kWeights[] = {1, 3};  // i2h, h2h
constexpr int kBiases[] = {2, 4};
constexpr int kFirstState = 5;
constexpr int kOutput = 0;

// Layers that become one node with packed weights: nodes of the graph, the lowest layer first.
using Stack = std::vector<int>;

class Packing {
 public:
  explicit Packing(const GraphFacts& facts) : facts_(facts), rebuilder_(facts) {
    stack_of_.resize(facts.graph().num_nodes());
    for (int i = 0; i < facts.graph().num_nodes(); ++i) {
      if (!TakesPackedWeights(i)) continue;
      const int below = LayerBelow(i);
      if (below >= 0) stack_of_[i] = std::exchange(stack_of_[below], {});
      stack_of_[i].push_back(i);
      found_ = true;
    }
  }

  bool found() const { return found_; }

  absl::StatusOr<GraphRewrite> Rebuild() {
    for (int i = 0; i < facts_.graph().num_nodes(); ++i) {
      if (!stack_of_[i].empty()) {
        COOPER_RETURN_IF_ERROR(MakeLayers(stack_of_[i]));
      } else if (!TakesPackedWeights(i)) {
        rebuilder_.Keep(i, rebuilder_.NewInputs(i));
      }
    }
    return rebuilder_.Finish();
  }

 private:
  const RNNParam& ParamOf(int i) const { return facts_.node(i).call().param<RNNParam>(); }
  NodeEntry OutputOf(int i, int output) const { return {facts_.owner(i), output}; }

  // Returns whether the layer can use packed weights: lstm or gru in float32, with no values kept
  // for a backward pass.
  bool TakesPackedWeights(int i) const {
    const Node& node = facts_.node(i);
    return IsOp(node, "_rnn_layer") && facts_.type(node.inputs()[kData]) == DType::kFloat32 &&
           HasPackedRNNWeight(ParamOf(i).mode) &&
           facts_.is_unused(OutputOf(i, node.num_outputs() - 1)) &&
           !facts_.is_constant(OutputOf(i, kOutput)) && absl::c_all_of(kWeights, [&](int input) {
             return facts_.is_constant(node.inputs()[input]);
           });
  }

  // Returns the layer whose output is layer `i`'s data and has no other users, if one node can run
  // both: they have the same kind, size and lengths, and the graph does not use the last states of
  // the lower one, so that layer `i` depends on it by its data alone. Returns -1 if there is none.
  int LayerBelow(int i) const {
    const NodeEntry& data = facts_.node(i).inputs()[kData];
    const int below = facts_.index(data);
    if (data.index != kOutput || stack_of_[below].empty()) return -1;
    if (facts_.is_output(data) || facts_.uses(data).size() != 1) return -1;
    for (int k = 0; k < RNNNumStates(ParamOf(below)); ++k) {
      if (!facts_.uses(OutputOf(below, 1 + k)).empty()) return -1;
    }
    const auto kind = [](const RNNParam& p) {
      return std::tie(p.mode, p.state_size, p.lstm_state_clip_min, p.lstm_state_clip_max,
                      p.lstm_state_clip_nan, p.use_sequence_length);
    };
    if (kind(ParamOf(i)) != kind(ParamOf(below))) return -1;
    const bool has_lengths = ParamOf(i).use_sequence_length;
    return has_lengths && facts_.node(i).inputs().back() != facts_.node(below).inputs().back()
               ? -1
               : below;
  }

  absl::Status MakeLayers(const Stack& stack) {
    const Node& last = facts_.node(stack.back());
    const RNNParam& param = ParamOf(stack.back());
    std::vector<NodeEntry> inputs = {rebuilder_.New(facts_.node(stack[0]).inputs()[kData])};
    for (const int i : stack) {
      const std::vector<NodeEntry> own = rebuilder_.NewInputs(i);
      for (int k = 0; k < 2; ++k) {
        const int weight = kWeights[k];
        COOPER_ASSIGN_OR_RETURN(
            NodeEntry packed,
            MakeEntry("_pack_rnn_weight",
                      absl::StrCat(facts_.node(i).name(), "_packed_weight", weight), {own[weight]},
                      {{"num_gates", absl::StrCat(RNNNumGates(param.mode))}}));
        inputs.push_back(std::move(packed));
        inputs.push_back(own[kBiases[k]]);
      }
      for (int k = 0; k < RNNNumStates(param); ++k) inputs.push_back(own[kFirstState + k]);
    }
    if (param.use_sequence_length) inputs.push_back(rebuilder_.New(last.inputs().back()));
    AttrMap attrs = last.attrs();
    attrs["num_layers"] = absl::StrCat(stack.size());
    COOPER_ASSIGN_OR_RETURN(const NodeEntry made, MakeEntry("_prepared_rnn", last.name(),
                                                            std::move(inputs), std::move(attrs)));
    rebuilder_.Replace(OutputOf(stack.back(), kOutput), made);
    for (size_t layer = 0; layer < stack.size(); ++layer) {
      for (int k = 0; k < RNNNumStates(param); ++k) {
        rebuilder_.Replace(OutputOf(stack[layer], 1 + k),
                           {made.node, PreparedRNNState(param, static_cast<int>(layer), k)});
      }
    }
    return absl::OkStatus();
  }

  const GraphFacts& facts_;
  GraphRebuilder rebuilder_;
  std::vector<Stack> stack_of_;  // by node, at its last layer
  bool found_ = false;
};

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> PackRNNWeights(const GraphFacts& facts,
                                                           const CanRunFn& can_run) {
  if (facts.has_gradients() || !can_run("_pack_rnn_weight") || !can_run("_prepared_rnn")) {
    return std::nullopt;
  }
  Packing packing(facts);
  if (!packing.found()) return std::nullopt;
  return packing.Rebuild();
}

}  // namespace cooper
