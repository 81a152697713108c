#include "executor/passes/graph/expand_projection.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/replacement_nodes.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

using Entries = std::vector<NodeEntry>;

// Each step of a layer in one direction is at most so many nodes.
constexpr int64_t kNodesPerStep = 16;

bool CanExpand(const GraphFacts& facts, const Node& node) {
  if (!IsOp(node, "RNN")) return false;
  const auto& param = node.call().param<RNNParam>();
  const Shape& data = facts.shape(node.inputs()[0]);
  return param.projection_size.has_value() && !param.use_sequence_length &&
         !param.lstm_state_clip_nan && data.num_elements() > 0 && data[0] <= kMaxSteps;
}

// Fails if the steps of the node make a graph of more than kMaxNodes nodes.
absl::Status CheckSize(const Node& node, int64_t num_steps) {
  const auto& param = node.call().param<RNNParam>();
  const int64_t chains = param.num_layers * RNNNumDirections(param);
  if (chains <= kMaxNodes / kNodesPerStep / num_steps) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(Describe(node), ": ", num_steps, " steps of ", chains,
                   " layers and directions make a graph of more than ", kMaxNodes, " nodes"));
}

// Makes the nodes that replace one RNN node.
class ProjectedRNN : ReplacementNodes {
 public:
  // `inputs` are those of the node in the new graph.
  ProjectedRNN(const Node& node, int64_t num_steps, int64_t input_size, Entries inputs)
      : ReplacementNodes(node),
        param_(node.call().param<RNNParam>()),
        num_steps_(num_steps),
        input_size_(input_size),
        inputs_(std::move(inputs)) {}

  // Returns the output and the last states.
  absl::StatusOr<Entries> Run() {
    COOPER_RETURN_IF_ERROR(SplitParameters());
    const int chains = static_cast<int>(param_.num_layers) * RNNNumDirections(param_);
    COOPER_ASSIGN_OR_RETURN(states_, Slices(inputs_[2], chains, "_state"));
    COOPER_ASSIGN_OR_RETURN(cells_, Slices(inputs_[3], chains, "_cell"));
    NodeEntry values = inputs_[0];
    for (int layer = 0; layer < param_.num_layers; ++layer) {
      const std::string name = absl::StrCat("_l", layer);
      if (layer > 0 && param_.p > 0) {
        COOPER_ASSIGN_OR_RETURN(values, Make("Dropout", name + "_dropout", {values},
                                             {{"p", PrintParamText(param_.p)}}));
      }
      Entries directions;
      for (int d = 0; d < RNNNumDirections(param_); ++d) {
        COOPER_ASSIGN_OR_RETURN(directions.emplace_back(),
                                Direction(layer * RNNNumDirections(param_) + d, d == 1, values,
                                          absl::StrCat(name, d == 1 ? "_r" : "")));
      }
      values = directions[0];
      if (directions.size() == 2) {
        COOPER_ASSIGN_OR_RETURN(
            values, Make("Concat", name, std::move(directions), {{"dim", "2"}, {"num_args", "2"}}));
      }
    }
    Entries results = {values};
    if (param_.state_outputs) {
      COOPER_ASSIGN_OR_RETURN(results.emplace_back(), Stack("_state_output", states_));
      COOPER_ASSIGN_OR_RETURN(results.emplace_back(), Stack("_cell_output", cells_));
    }
    return results;
  }

 private:
  // The parameters of one layer and direction.
  struct Weights {
    NodeEntry i2h_weight, h2h_weight, projection, i2h_bias, h2h_bias;
  };

  int64_t rows() const { return RNNNumGates(param_.mode) * param_.state_size; }

  // Returns the slices of the first axis, without that axis.
  absl::StatusOr<Entries> Slices(const NodeEntry& whole, int64_t count,
                                 const std::string& suffix) const {
    COOPER_ASSIGN_OR_RETURN(const NodeEntry first, Split(suffix, whole, count));
    Entries slices;
    for (int i = 0; i < count; ++i) slices.push_back({first.node, i});
    return slices;
  }

  // Cuts the parameter vector: i2h, h2h and projection weights of every layer and direction, then
  // biases in the same order.
  absl::Status SplitParameters() {
    const int64_t output_size = RNNOutputSize(param_);
    const int64_t directions = RNNNumDirections(param_);
    std::vector<std::pair<int64_t, int64_t>> shapes;  // columns 0: a bias
    for (int layer = 0; layer < param_.num_layers; ++layer) {
      const int64_t columns = layer == 0 ? input_size_ : directions * output_size;
      for (int d = 0; d < directions; ++d) {
        shapes.insert(shapes.end(),
                      {{rows(), columns}, {rows(), output_size}, {output_size, param_.state_size}});
      }
    }
    const size_t num_weights = shapes.size();
    weights_.resize(num_weights / 3);
    shapes.resize(num_weights + 2 * weights_.size(), {rows(), 0});
    std::vector<int64_t> begins;
    int64_t offset = 0;
    for (const auto& [height, width] : shapes) {
      begins.push_back(offset);
      offset += height * std::max<int64_t>(width, 1);
    }
    COOPER_ASSIGN_OR_RETURN(
        const NodeEntry pieces,
        Make("_split_v2", "_parameters", {inputs_[1]},
             {{"indices", absl::StrCat("(", absl::StrJoin(begins, ", "), ")")}, {"axis", "0"}}));
    const auto piece = [&](size_t i) { return NodeEntry{pieces.node, static_cast<int>(i)}; };
    for (size_t i = 0; i < num_weights; ++i) {
      Weights& w = weights_[i / 3];
      NodeEntry& weight = i % 3 == 0 ? w.i2h_weight : i % 3 == 1 ? w.h2h_weight : w.projection;
      COOPER_ASSIGN_OR_RETURN(
          weight,
          Make("Reshape", absl::StrCat("_weight", i), {piece(i)},
               {{"shape", absl::StrCat("(", shapes[i].first, ", ", shapes[i].second, ")")}}));
    }
    for (size_t i = 0; i < weights_.size(); ++i) {
      weights_[i].i2h_bias = piece(num_weights + 2 * i);
      weights_[i].h2h_bias = piece(num_weights + 2 * i + 1);
    }
    return absl::OkStatus();
  }

  // Returns the outputs of one chain over `values` (steps, batch, input), stacked, and sets its
  // last states.
  absl::StatusOr<NodeEntry> Direction(int chain, bool backwards, const NodeEntry& values,
                                      const std::string& name) {
    const Weights& w = weights_[chain];
    const std::string num_hidden = absl::StrCat(rows());
    COOPER_ASSIGN_OR_RETURN(
        const NodeEntry products,
        Make("FullyConnected", name + "_i2h", {values, w.i2h_weight, w.i2h_bias},
             {{"num_hidden", num_hidden}, {"flatten", "False"}}));
    COOPER_ASSIGN_OR_RETURN(const Entries steps, Slices(products, num_steps_, name + "_steps"));
    Entries outputs(steps.size());
    NodeEntry& state = states_[chain];
    NodeEntry& cell = cells_[chain];
    for (size_t k = 0; k < steps.size(); ++k) {
      const size_t t = backwards ? steps.size() - 1 - k : k;
      const std::string step = absl::StrCat(name, "_t", t);
      COOPER_ASSIGN_OR_RETURN(
          NodeEntry gates, Make("FullyConnected", step + "_h2h", {state, w.h2h_weight, w.h2h_bias},
                                {{"num_hidden", num_hidden}}));
      COOPER_ASSIGN_OR_RETURN(gates, Make("elemwise_add", step + "_gates", {steps[t], gates}));
      COOPER_RETURN_IF_ERROR(Cell(w, gates, step, state, cell));
      outputs[t] = state;
    }
    return Stack(name + "_out", std::move(outputs));
  }

  // Computes the next states from the sums of the gates i, f, g and o.
  absl::Status Cell(const Weights& w, const NodeEntry& gates, const std::string& step,
                    NodeEntry& state, NodeEntry& cell) const {
    COOPER_ASSIGN_OR_RETURN(const NodeEntry sums, Make("SliceChannel", step + "_slice", {gates},
                                                       {{"num_outputs", "4"}, {"axis", "1"}}));
    const auto gate = [&](int k, const char* function) {
      return Make(function, absl::StrCat(step, "_gate", k), {NodeEntry{sums.node, k}});
    };
    COOPER_ASSIGN_OR_RETURN(const NodeEntry in, gate(0, "sigmoid"));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry forget, gate(1, "sigmoid"));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry change, gate(2, "tanh"));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry out, gate(3, "sigmoid"));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry kept,
                            Make("elemwise_mul", step + "_kept", {forget, cell}));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry added,
                            Make("elemwise_mul", step + "_added", {in, change}));
    COOPER_ASSIGN_OR_RETURN(cell, Make("elemwise_add", step + "_cell", {kept, added}));
    if (param_.lstm_state_clip_min.has_value()) {
      COOPER_ASSIGN_OR_RETURN(cell, Make("clip", step + "_clip", {cell},
                                         {{"a_min", PrintParamText(*param_.lstm_state_clip_min)},
                                          {"a_max", PrintParamText(*param_.lstm_state_clip_max)}}));
    }
    COOPER_ASSIGN_OR_RETURN(const NodeEntry bounded, Make("tanh", step + "_tanh", {cell}));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry hidden,
                            Make("elemwise_mul", step + "_hidden", {out, bounded}));
    COOPER_ASSIGN_OR_RETURN(
        state, Make("FullyConnected", step + "_projection", {hidden, w.projection},
                    {{"num_hidden", absl::StrCat(RNNOutputSize(param_))}, {"no_bias", "True"}}));
    return absl::OkStatus();
  }

  const RNNParam& param_;
  const int64_t num_steps_, input_size_;
  const Entries inputs_;
  std::vector<Weights> weights_;  // by layer and direction, as the states
  Entries states_, cells_;
};

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> ExpandProjection(const GraphFacts& facts) {
  const auto& nodes = facts.graph().nodes();
  if (std::none_of(nodes.begin(), nodes.end(),
                   [&](const Node* node) { return CanExpand(facts, *node); })) {
    return std::nullopt;
  }
  GraphRebuilder rebuilder(facts);
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    if (!CanExpand(facts, node)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    const Shape& data = facts.shape(node.inputs()[0]);
    COOPER_RETURN_IF_ERROR(CheckSize(node, data[0]));
    COOPER_ASSIGN_OR_RETURN(const Entries outputs,
                            ProjectedRNN(node, data[0], data[2], rebuilder.NewInputs(i)).Run());
    // The hidden output, for the gradient of the node, has no replacement.
    for (size_t k = 0; k < outputs.size(); ++k) {
      rebuilder.Replace({facts.owner(i), static_cast<int>(k)}, outputs[k]);
    }
  }
  return rebuilder.Finish();
}

}  // namespace cooper
