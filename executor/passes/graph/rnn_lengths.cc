#include "executor/passes/graph/rnn_lengths.h"

#include <utility>
#include <vector>

#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sequence_param.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/ops/shape/transpose_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// A masked array: the output of `layer`, transposed by `swap` if that is not null.
struct MaskedLayer {
  const Node* layer = nullptr;
  const Node* swap = nullptr;
};

bool SwapsBatchAndTime(const Node& node) {
  if (!IsOp(node, "SwapAxis")) return false;
  const auto& param = node.call().param<SwapAxisParam>();
  return param.source_axis(0, 3) == 1 && param.source_axis(1, 3) == 0;
}

// Returns whether an entry has one user and is no output.
bool IsUsedOnce(const GraphFacts& facts, const NodeEntry& e) {
  return facts.uses(e).size() == 1 && !facts.is_output(e);
}

// Returns the layer that node `i` masks; null if there is none.
MaskedLayer MaskedBy(const GraphFacts& facts, int i) {
  const Node& mask = facts.node(i);
  if (!IsOp(mask, "SequenceMask")) return {};
  const auto& param = mask.call().param<SequenceMaskParam>();
  if (!param.use_sequence_length || param.value != 0) return {};
  NodeEntry data = mask.inputs()[SequenceArrays::kData];
  if (!IsUsedOnce(facts, data)) return {};
  MaskedLayer found;
  if (param.axis == 1) {
    if (!SwapsBatchAndTime(*data.node)) return {};
    found.swap = data.node.get();
    data = found.swap->inputs()[0];
    if (!IsUsedOnce(facts, data)) return {};
  }
  if (!IsOp(*data.node, "_rnn_layer") || data.index != 0 ||
      data.node->call().param<RNNParam>().use_sequence_length) {
    return {};
  }
  // The last states would differ.
  for (int k = 1; k < data.node->num_outputs(); ++k) {
    if (!facts.is_unused({data.node, k})) return {};
  }
  found.layer = data.node.get();
  return found;
}

absl::StatusOr<NodeEntry> MakeLayer(const GraphRebuilder& rebuilder, const MaskedLayer& masked,
                                    const Node& mask) {
  std::vector<NodeEntry> inputs;
  for (const NodeEntry& input : masked.layer->inputs()) inputs.push_back(rebuilder.New(input));
  inputs.push_back(rebuilder.New(mask.inputs()[SequenceArrays::kLength]));
  AttrMap attrs = masked.layer->call().attrs;
  attrs["use_sequence_length"] = "True";
  COOPER_ASSIGN_OR_RETURN(const NodeEntry layer, MakeEntry("_rnn_layer", masked.layer->name(),
                                                           std::move(inputs), std::move(attrs)));
  if (masked.swap == nullptr) return layer;
  return MakeEntry("SwapAxis", masked.swap->name(), {layer}, {{"dim1", "0"}, {"dim2", "1"}});
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> MoveLengthsIntoRNNLayers(const GraphFacts& facts,
                                                                     const CanRunFn& can_run) {
  for (const char* op : {"_rnn_layer", "_backward_rnn_layer"}) {
    if (!can_run(op)) return std::nullopt;
  }
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const MaskedLayer masked = MaskedBy(facts, i);
    if (masked.layer == nullptr) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    found = true;
    COOPER_ASSIGN_OR_RETURN(NodeEntry layer, MakeLayer(rebuilder, masked, facts.node(i)));
    rebuilder.Replace({facts.owner(i), 0}, std::move(layer));
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
