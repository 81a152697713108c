#include "symbol/ops/loss/label_probabilities.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/ops/loss/fc_softmax_attrs.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

constexpr char kOp[] = "_fc_softmax_label_probability";

absl::Status Refuse(const Node& softmax, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("label probabilities of ", Describe(softmax), ": ", why));
}

absl::Status CheckParameters(const Node& softmax) {
  const auto& param = softmax.call().param<SoftmaxOutputParam>();
  if (param.multi_output) return Refuse(softmax, "expected multi_output=False");
  if (param.out_grad) return Refuse(softmax, "expected out_grad=False");
  if (param.smooth_alpha != 0) {
    return Refuse(softmax, absl::StrCat("expected smooth_alpha=0, got ", param.smooth_alpha));
  }
  return absl::OkStatus();
}

// Fails if another node uses the output: the loss's gradient would be counted a second time.
absl::Status CheckNotUsed(const Node& softmax, const IndexedGraph& graph) {
  for (const Node* node : graph.nodes()) {
    for (const NodeEntry& input : node->inputs()) {
      if (input.node.get() == &softmax) {
        return Refuse(softmax,
                      absl::StrCat(Describe(*node), " uses the probabilities of all classes"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<NodeEntry> MakeLabelProbability(const Node& softmax) {
  const Node& scores = *softmax.inputs()[0].node;
  OpArgs args = {
      .name = softmax.name(), .inputs = {}, .named = {}, .attrs = FcSoftmaxAttrs(scores, softmax)};
  for (const NodeEntry& input : scores.inputs()) args.inputs.push_back(Symbol({input}));
  args.inputs.push_back(Symbol({softmax.inputs()[1]}));
  for (const auto& attr : softmax.attrs()) {
    if (absl::StartsWith(attr.first, "__")) args.attrs.insert(attr);
  }
  COOPER_ASSIGN_OR_RETURN(const Symbol made, Symbol::Create(kOp, args));
  return made.outputs()[0];
}

}  // namespace

absl::StatusOr<Symbol> LabelProbabilities(const Symbol& symbol) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const IndexedGraph graph(symbol.outputs());
  std::vector<NodeEntry> outputs;
  absl::flat_hash_map<const Node*, NodeEntry> made;  // by SoftmaxOutput, which may be listed twice
  bool found = false;
  for (const NodeEntry& output : symbol.outputs()) {
    const Node& node = *output.node;
    found = found || IsOp(node, kOp);  // already replaced
    if (!IsOp(node, "SoftmaxOutput") || !IsOp(*node.inputs()[0].node, "FullyConnected")) {
      outputs.push_back(output);
      continue;
    }
    found = true;
    COOPER_RETURN_IF_ERROR(CheckParameters(node));
    COOPER_RETURN_IF_ERROR(CheckNotUsed(node, graph));
    NodeEntry& entry = made[&node];
    if (!entry) {
      COOPER_ASSIGN_OR_RETURN(entry, MakeLabelProbability(node));
    }
    outputs.push_back(entry);
  }
  if (!found) {
    std::string names;
    for (const NodeEntry& output : symbol.outputs()) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", Describe(*output.node));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "label probabilities: no output is a SoftmaxOutput of a FullyConnected; there are ",
        names));
  }
  return Symbol(std::move(outputs));
}

}  // namespace cooper
