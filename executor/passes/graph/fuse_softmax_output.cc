#include "executor/passes/graph/fuse_softmax_output.h"

#include <utility>
#include <vector>

#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/fc_softmax_attrs.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

constexpr const char* kOps[] = {"_fc_softmax_output", "_backward_fc_softmax_output"};

// Returns the FullyConnected to fuse with node `i` if that is a suitable SoftmaxOutput; otherwise
// null.
const Node* ScoresOf(const GraphFacts& facts, int i) {
  const Node& softmax = facts.node(i);
  if (!IsOp(softmax, "SoftmaxOutput")) return nullptr;
  const auto& param = softmax.call().param<SoftmaxOutputParam>();
  if (param.multi_output || param.out_grad || param.smooth_alpha != 0) return nullptr;
  const NodeEntry& scores = softmax.inputs()[0];
  const NodeEntry& label = softmax.inputs()[1];
  const DType type = facts.type(scores);
  if (!IsOp(*scores.node, "FullyConnected") || facts.uses(scores).size() != 1 ||
      facts.is_output(scores) || facts.shape(scores.node->inputs()[0]).rank() != 2 ||
      facts.shape(label).rank() != 1 || (type != DType::kFloat32 && type != DType::kFloat64)) {
    return nullptr;
  }
  return scores.node.get();
}

absl::StatusOr<NodeEntry> MakeFused(const GraphRebuilder& rebuilder, const Node& scores,
                                    const Node& softmax) {
  std::vector<NodeEntry> inputs;
  for (const NodeEntry& input : scores.inputs()) inputs.push_back(rebuilder.New(input));
  inputs.push_back(rebuilder.New(softmax.inputs()[1]));
  return MakeEntry("_fc_softmax_output", softmax.name(), std::move(inputs),
                   FcSoftmaxAttrs(scores, softmax));
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> FuseSoftmaxOutput(const GraphFacts& facts,
                                                              const CanRunFn& can_run) {
  for (const char* op : kOps) {
    if (!can_run(op)) return std::nullopt;
  }
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node* scores = ScoresOf(facts, i);
    if (scores == nullptr) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    found = true;
    COOPER_ASSIGN_OR_RETURN(NodeEntry fused, MakeFused(rebuilder, *scores, facts.node(i)));
    rebuilder.Replace({facts.owner(i), 0}, std::move(fused));
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
