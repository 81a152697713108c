#include "executor/passes/graph/pack_weights.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/filter_norms.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/program/blocked_layout.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/fused_convolution_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

constexpr const char* kOps[] = {"_fused_convolution", "_fused_convolution_sum",
                                "_folded_batch_norm"};

// Returns whether the node is a convolution with a plain weight.
bool IsPlain(const Node& node) {
  if (IsOp(node, "_blocked_convolution")) return true;
  return (IsOp(node, "_fused_convolution") || IsOp(node, "_fused_convolution_sum")) &&
         node.call().param<FusedConvolutionParam>().weight_packing.empty();
}

FusedConvolutionParam ParamOf(const Node& node) {
  if (!IsOp(node, "_blocked_convolution")) return node.call().param<FusedConvolutionParam>();
  FusedConvolutionParam param;
  static_cast<BlockedConvolutionParam&>(param) = node.call().param<BlockedConvolutionParam>();
  return param;
}

// Returns node `i` with a packed weight; null if it stays unchanged.
absl::StatusOr<NodeEntry> Packed(const GraphFacts& facts, const CanRunFn& can_run,
                                 const BlockedLayout& layout, ConvolutionAlgorithm algorithm, int i,
                                 const std::vector<NodeEntry>& inputs) {
  const Node& node = facts.node(i);
  FusedConvolutionParam param = ParamOf(node);
  const FusedConvolutionInputs in(param);
  const auto is_constant = [&](int input) {
    return input < 0 || facts.is_constant(node.inputs()[input]);
  };
  const int filters[] = {in.weight, in.gamma, in.beta, in.moving_mean, in.moving_var};
  // A bias need not be constant unless a BatchNorm is folded into it.
  if (!absl::c_all_of(filters, is_constant) || (param.batch_norm && !is_constant(in.bias))) {
    return NodeEntry();
  }
  AttrMap attrs = node.attrs();
  Filters of_node = {.weight = inputs[in.weight],
                     .bias = in.bias < 0 ? NodeEntry() : inputs[in.bias]};
  if (param.batch_norm) {
    const NodeEntry norm[] = {inputs[in.gamma], inputs[in.beta], inputs[in.moving_mean],
                              inputs[in.moving_var]};
    COOPER_ASSIGN_OR_RETURN(of_node, FoldBatchNorm(node.name(), of_node, norm, attrs));
    for (const char* name : {"batch_norm", "eps", "fix_gamma", "use_global_stats"}) {
      attrs.erase(name);
    }
    attrs["no_bias"] = "False";
    param.batch_norm = param.no_bias = false;
  }
  const std::optional<WeightPacking> packing = layout.weight_packing(
      param, algorithm, facts.shape(node.inputs()[in.data]), facts.shape({facts.owner(i), 0}));
  if (!packing.has_value() || !can_run(packing->op)) return NodeEntry();
  COOPER_ASSIGN_OR_RETURN(of_node.weight,
                          MakeEntry(packing->op, absl::StrCat(node.name(), "_weight_packed"),
                                    {std::move(of_node.weight)}, packing->attrs));
  attrs["weight_packing"] = packing->ToString();
  std::vector<NodeEntry> packed = {inputs[in.data], std::move(of_node.weight)};
  if (in.addend >= 0) packed.push_back(inputs[in.addend]);
  if (of_node.bias) packed.push_back(std::move(of_node.bias));
  return MakeEntry(param.sum ? "_fused_convolution_sum" : "_fused_convolution", node.name(),
                   std::move(packed), std::move(attrs));
}

absl::StatusOr<std::optional<GraphRewrite>> PackFor(ConvolutionAlgorithm algorithm,
                                                    const GraphFacts& facts,
                                                    const CanRunFn& can_run) {
  const BlockedLayout* layout = GetBlockedLayout();
  if (layout == nullptr || facts.has_gradients() || !absl::c_all_of(kOps, can_run)) {
    return std::nullopt;
  }
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    NodeEntry packed;
    if (IsPlain(facts.node(i)) && !facts.is_constant({facts.owner(i), 0})) {
      COOPER_ASSIGN_OR_RETURN(
          packed, Packed(facts, can_run, *layout, algorithm, i, rebuilder.NewInputs(i)));
    }
    if (packed) {
      rebuilder.Replace({facts.owner(i), 0}, std::move(packed));
      found = true;
    } else {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
    }
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> UseWinograd(const GraphFacts& facts,
                                                        const CanRunFn& can_run) {
  return PackFor(ConvolutionAlgorithm::kWinograd, facts, can_run);
}

absl::StatusOr<std::optional<GraphRewrite>> PackWeights(const GraphFacts& facts,
                                                        const CanRunFn& can_run) {
  return PackFor(ConvolutionAlgorithm::kDirect, facts, can_run);
}

}  // namespace cooper
