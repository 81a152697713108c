#include "executor/passes/graph/fuse_rnn_layers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/rnn_cell_matcher.h"
#include "executor/passes/graph/rnn_chains.h"
#include "executor/passes/graph/step_stacker.h"
#include "executor/passes/graph/unit_order.h"
#include "glog/logging.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/expand_dims_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// The operators that the pass may insert.
constexpr const char* kOps[] = {
    "_rnn_layer", "_backward_rnn_layer", "SliceChannel", "_backward_SliceChannel",
    "Concat",     "_backward_Concat",    "SwapAxis",     "reverse",
    "Reshape",    "_backward_reshape",   "zeros_like"};

const char* ModeName(RNNMode mode) {
  switch (mode) {
    case RNNMode::kLstm:
      return "lstm";
    case RNNMode::kGru:
      return "gru";
    case RNNMode::kRnnRelu:
      return "rnn_relu";
    case RNNMode::kRnnTanh:
      return "rnn_tanh";
  }
  return "";
}

// Replaces the chains of a graph by layers.
class Fusion {
 public:
  Fusion(const GraphFacts& facts, std::vector<RNNCellMatch> cells, std::vector<RNNChain> chains)
      : facts_(facts), cells_(std::move(cells)), chains_(std::move(chains)), rebuilder_(facts) {}

  // Orders chains, and nodes in none, so that each comes after its inputs. A chain in a cycle of
  // chains is split into its steps.
  void Order() {
    while (true) {
      std::vector<std::vector<int>> units(chains_.size());
      for (size_t c = 0; c < chains_.size(); ++c) {
        for (int cell : chains_[c]) {
          const std::vector<int>& nodes = cells_[cell].nodes;
          units[c].insert(units[c].end(), nodes.begin(), nodes.end());
        }
      }
      UnitOrder found = OrderUnits(facts_, units);
      order_ = std::move(found.order);
      if (found.cycle.empty()) return;
      // A chain of several steps, of which each cycle has one.
      const auto waiting = std::find_if(found.cycle.rbegin(), found.cycle.rend(),
                                        [&](int chain) { return chains_[chain].size() > 1; });
      CHECK(waiting != found.cycle.rend()) << "single steps wait for each other";
      const RNNChain chain = std::move(chains_[*waiting]);
      chains_.erase(chains_.begin() + *waiting);
      for (int cell : chain) chains_.push_back({cell});
      LeaveOutLonePlainCells();
    }
  }

  // A single plain cell gains nothing, and may not be a cell at all.
  void LeaveOutLonePlainCells() {
    std::erase_if(chains_, [&](const RNNChain& chain) {
      const RNNMode mode = cells_[chain[0]].mode;
      return chain.size() == 1 && (mode == RNNMode::kRnnRelu || mode == RNNMode::kRnnTanh);
    });
  }

  bool empty() const { return chains_.empty(); }

  absl::StatusOr<GraphRewrite> Rebuild() {
    for (int unit : order_) {
      if (unit < 0) {
        COOPER_RETURN_IF_ERROR(MakeLayer(chains_[~unit]));
      } else {
        COOPER_RETURN_IF_ERROR(CopyNode(unit));
      }
    }
    return rebuilder_.Finish();
  }

 private:
  const NodeEntry& New(const NodeEntry& old) const { return rebuilder_.New(old); }

  absl::Status MakeLayer(const RNNChain& chain) {
    const RNNCellMatch& first = cells_[chain.front()];
    const RNNCellMatch& last = cells_[chain.back()];
    const std::string& name = last.h.node->name();
    std::vector<NodeEntry> steps;
    for (int cell : chain) steps.push_back(New(cells_[cell].i2h.data));
    COOPER_ASSIGN_OR_RETURN(NodeEntry data, stacker_.Stack(steps, facts_.shape(first.i2h.data)[1]));
    std::vector<NodeEntry> inputs = {std::move(data),     New(first.i2h.weight),
                                     New(first.i2h.bias), New(first.h2h.weight),
                                     New(first.h2h.bias), New(first.h2h.data)};
    if (first.mode == RNNMode::kLstm) inputs.push_back(New(first.c_prev));
    COOPER_ASSIGN_OR_RETURN(const NodePtr layer,
                            MakeNode("_rnn_layer", absl::StrCat(name, "_layer"), std::move(inputs),
                                     {{"mode", ModeName(first.mode)},
                                      {"num_layers", "1"},
                                      {"state_outputs", "True"},
                                      {"state_size", absl::StrCat(first.hidden)}}));
    if (first.mode == RNNMode::kLstm) rebuilder_.Replace(last.c, {layer, 2});
    if (chain.size() == 1) {
      rebuilder_.Replace(last.h, {layer, 1});
      return absl::OkStatus();
    }
    COOPER_ASSIGN_OR_RETURN(const NodePtr split,
                            SplitIntoSteps({layer, 0}, chain.size(), absl::StrCat(name, "_split")));
    for (size_t t = 0; t < chain.size(); ++t) {
      rebuilder_.Replace(cells_[chain[t]].h, {split, static_cast<int>(t)});
    }
    return absl::OkStatus();
  }

  absl::Status CopyNode(int i) {
    std::vector<NodeEntry> inputs = rebuilder_.NewInputs(i);
    COOPER_ASSIGN_OR_RETURN(NodeEntry merged, MergedSteps(facts_.node(i), inputs));
    const bool is_output = facts_.is_output({facts_.owner(i), 0});
    if (merged && is_output && merged.node->is_variable()) {
      // An output must not change when the caller writes to an argument.
      merged = {};
    }
    if (merged) {
      rebuilder_.Replace({facts_.owner(i), 0}, std::move(merged));
    } else {
      rebuilder_.Keep(i, std::move(inputs));
    }
    return absl::OkStatus();
  }

  // If a node joins the steps of a layer along a new time axis, as unroll() does, returns the array
  // that they were split from. Otherwise returns a null entry.
  absl::StatusOr<NodeEntry> MergedSteps(const Node& node, const std::vector<NodeEntry>& inputs) {
    if (!IsOp(node, "Concat")) return NodeEntry();
    const int axis = node.call().param<ConcatParam>().dim;
    if (axis != 0 && axis != 1) return NodeEntry();
    std::vector<NodeEntry> steps;
    for (const NodeEntry& input : inputs) {
      if (!IsOp(*input.node, "expand_dims") ||
          input.node->call().param<ExpandDimsParam>().axis != axis) {
        return NodeEntry();
      }
      steps.push_back(input.node->inputs()[0]);
    }
    COOPER_ASSIGN_OR_RETURN(NodeEntry stacked, stacker_.StackSplitSteps(steps));
    if (!stacked || axis == 0) return stacked;
    COOPER_ASSIGN_OR_RETURN(NodePtr swapped, MakeNode("SwapAxis", node.name(), {stacked},
                                                      {{"dim1", "0"}, {"dim2", "1"}}));
    return NodeEntry{std::move(swapped), 0};
  }

  const GraphFacts& facts_;
  const std::vector<RNNCellMatch> cells_;
  std::vector<RNNChain> chains_;
  std::vector<int> order_;  // nodes, and ~c for chain c
  GraphRebuilder rebuilder_;
  StepStacker stacker_;
};

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> FuseRNNLayers(const GraphFacts& facts,
                                                          const CanRunFn& can_run) {
  for (const char* op : kOps) {
    if (!can_run(op)) return std::nullopt;
  }
  std::vector<RNNCellMatch> cells = FindRNNCells(facts);
  std::vector<RNNChain> chains = ChainRNNCells(facts, cells);
  Fusion fusion(facts, std::move(cells), std::move(chains));
  fusion.LeaveOutLonePlainCells();
  if (fusion.empty()) return std::nullopt;
  fusion.Order();
  COOPER_ASSIGN_OR_RETURN(GraphRewrite rewrite, fusion.Rebuild());
  return rewrite;
}

}  // namespace cooper
