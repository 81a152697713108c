#include "executor/passes/graph/block_channels.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "executor/passes/graph/filter_norms.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/padded_channels.h"
#include "executor/program/blocked_layout.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/elemwise/unary_param.h"
#include "symbol/ops/fused/fused_convolution_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/pooling_param.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

constexpr const char* kOps[] = {"_blocked_convolution",
                                "_backward_blocked_convolution",
                                "_blocked_batch_norm",
                                "_backward_blocked_batch_norm",
                                "Pooling",
                                "Reshape",
                                "transpose"};

class ChannelBlocker {
 public:
  ChannelBlocker(const GraphFacts& facts, const BlockedLayout& layout, bool fuses, bool pads)
      : facts_(facts), layout_(layout), fuses_(fuses), rebuilder_(facts) {
    padded_ =
        pads ? PaddedImages(facts, layout.block) : std::vector<bool>(facts.graph().num_nodes());
  }

  absl::StatusOr<std::optional<GraphRewrite>> Run() {
    for (int i = 0; i < facts_.graph().num_nodes(); ++i) {
      COOPER_ASSIGN_OR_RETURN(const bool done, Block(i));
      if (done) continue;
      COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs,
                              Inputs(facts_.node(i), /*blocked=*/false));
      rebuilder_.Keep(i, std::move(inputs));
    }
    if (!found_) return std::nullopt;
    for (const NodeEntry& output : facts_.symbol().outputs()) {
      COOPER_RETURN_IF_ERROR(Plain(output).status());
    }
    return rebuilder_.Finish();
  }

 private:
  // Returns `entry` in its original layout; converts its blocked replacement if it has one.
  absl::StatusOr<NodeEntry> Plain(const NodeEntry& entry) {
    if (rebuilder_.New(entry)) return rebuilder_.New(entry);
    const std::string name = absl::StrCat(entry.node->name(), "_plain");
    const int spatial = facts_.shape(entry).rank() - 2;
    std::vector<int> axes = {0, 1, spatial + 2};
    for (int i = 0; i < spatial; ++i) axes.push_back(2 + i);
    COOPER_ASSIGN_OR_RETURN(NodeEntry moved,
                            Transposed(absl::StrCat(name, "_axes"), blocked_.at(Key(entry)), axes));
    COOPER_ASSIGN_OR_RETURN(NodeEntry plain, MakeEntry("Reshape", name, {std::move(moved)},
                                                       {{"shape", Codes("0,-3", spatial)}}));
    if (IsPadded(entry)) {
      COOPER_ASSIGN_OR_RETURN(
          plain,
          MakeEntry(
              "slice_axis", absl::StrCat(name, "_slice"), {std::move(plain)},
              {{"axis", "1"}, {"begin", "0"}, {"end", absl::StrCat(facts_.shape(entry)[1])}}));
    }
    rebuilder_.Replace(entry, plain);
    return plain;
  }

  static absl::StatusOr<NodeEntry> Transposed(const std::string& name, NodeEntry entry,
                                              const std::vector<int>& axes) {
    return MakeEntry("transpose", name, {std::move(entry)},
                     {{"axes", absl::StrCat("(", absl::StrJoin(axes, ","), ")")}});
  }

  // Returns whether the blocks of `entry` have more channels than its plain form.
  bool IsPadded(const NodeEntry& entry) const {
    return entry.index == 0 && padded_[facts_.index(entry)];
  }

  // Returns whether `entry` can be blocked.
  bool Fits(const NodeEntry& entry) const {
    const Shape& shape = facts_.shape(entry);
    return IsPadded(entry) || (shape.rank() >= 3 && shape.rank() <= 5 &&
                               shape[1] % layout_.block == 0 && shape.num_elements() > 0);
  }

  // Returns the plain shape of `entry` with the channels of its blocks.
  Shape PaddedShape(const NodeEntry& entry) const {
    Shape shape = facts_.shape(entry);
    if (IsPadded(entry)) shape[1] = PaddedCount(shape[1], layout_.block);
    return shape;
  }
  // Returns the number of channels that blocks of `entry` add.
  int64_t AddedChannels(const NodeEntry& entry) const {
    return IsPadded(entry) ? PaddedShape(entry)[1] - facts_.shape(entry)[1] : 0;
  }

  // Returns `entry`, of `rank` axes, with `first` and `second` zeros appended along axes 0 and 1.
  static absl::StatusOr<NodeEntry> WithZeros(NodeEntry entry, int rank, int64_t first,
                                             int64_t second) {
    if (first == 0 && second == 0) return entry;
    std::vector<int64_t> widths(2 * rank);
    widths[1] = first;
    if (rank > 1) widths[3] = second;
    std::string name = absl::StrCat(entry.node->name(), "_padded");
    return MakeEntry(
        "Pad", name, {std::move(entry)},
        {{"mode", "constant"}, {"pad_width", absl::StrCat("(", absl::StrJoin(widths, ","), ")")}});
  }

  // Returns a shape for Reshape: `first`, then the spatial axes and `more` axes unchanged.
  static std::string Codes(absl::string_view first, int spatial, int more = 0) {
    std::string codes = absl::StrCat("(", first);
    for (int i = 0; i < spatial + more; ++i) absl::StrAppend(&codes, ",0");
    return absl::StrCat(codes, ")");
  }
  bool IsBlocked(const NodeEntry& entry) const { return blocked_.contains(Key(entry)); }

  // Returns `entry`, which fits, in blocked layout.
  absl::StatusOr<NodeEntry> Blocked(const NodeEntry& entry) {
    if (const auto it = blocked_.find(Key(entry)); it != blocked_.end()) return it->second;
    const std::string name = absl::StrCat(entry.node->name(), "_blocked");
    const int spatial = facts_.shape(entry).rank() - 2;
    COOPER_ASSIGN_OR_RETURN(NodeEntry plain, WithZeros(rebuilder_.New(entry), spatial + 2,
                                                       /*first=*/0, AddedChannels(entry)));
    COOPER_ASSIGN_OR_RETURN(
        NodeEntry split,
        MakeEntry("Reshape", absl::StrCat(name, "_shape"), {std::move(plain)},
                  {{"shape", Codes(absl::StrCat("0,-4,-1,", layout_.block), spatial)}}));
    std::vector<int> axes = {0, 1};
    for (int i = 0; i < spatial; ++i) axes.push_back(3 + i);
    axes.push_back(2);
    COOPER_ASSIGN_OR_RETURN(NodeEntry moved, Transposed(name, std::move(split), axes));
    blocked_[Key(entry)] = moved;
    return moved;
  }

  // Returns the inputs of `node`, the first of them blocked if `blocked`.
  absl::StatusOr<std::vector<NodeEntry>> Inputs(const Node& node, bool blocked) {
    std::vector<NodeEntry> inputs;
    for (const NodeEntry& input : node.inputs()) {
      const bool first = inputs.empty();
      COOPER_ASSIGN_OR_RETURN(inputs.emplace_back(),
                              first && blocked ? Blocked(input) : Plain(input));
    }
    return inputs;
  }

  absl::Status Set(int i, absl::StatusOr<NodeEntry> entry) {
    COOPER_RETURN_IF_ERROR(entry.status());
    blocked_[Key({facts_.owner(i), 0})] = *std::move(entry);
    return absl::OkStatus();
  }

  // Returns whether node `i` has been replaced by one that works on blocks.
  absl::StatusOr<bool> Block(int i) {
    const Node& node = facts_.node(i);
    if (node.is_variable() || !Fits({facts_.owner(i), 0})) return false;
    if (IsOp(node, "Convolution") || IsOp(node, "Convolution_v1")) return Convolution(i);
    if (!absl::c_any_of(node.inputs(), [&](const NodeEntry& in) { return IsBlocked(in); })) {
      return false;
    }
    COOPER_ASSIGN_OR_RETURN(const bool fused, fuses_ ? Fuse(i) : false);
    if (fused) return true;
    if (IsOp(node, "BatchNorm")) return BatchNorm(i);
    if (IsOp(node, "Activation") && MergesRelu(i)) return true;
    if (IsOp(node, "Pooling")) return Pooling(i);
    const bool joins = IsOp(node, "Concat") && node.call().param<ConcatParam>().dim == 1;
    // A loss may divide by the extents of its data.
    const bool loss = node.op()->IgnoresHeadGradient(node.call());
    if (joins || (node.op()->is_elementwise() && !loss)) return Same(i, joins);
    return false;
  }

  absl::StatusOr<bool> Convolution(int i) {
    const Node& node = facts_.node(i);
    auto param = node.call().param<ConvolutionParam>();
    const NodeEntry& data = node.inputs()[0];
    const NodeEntry result{facts_.owner(i), 0};
    const Shape shape = PaddedShape(data), output = PaddedShape(result);
    param.num_filter = output[1];
    if (ChannelsLast(param.layout) || facts_.type(data) != DType::kFloat32 ||
        shape.num_elements() == 0) {
      return false;
    }
    const bool plain = !Fits(data);
    if (plain && (shape[1] >= layout_.block || param.num_group != 1)) return false;
    // A depthwise convolution has fast kernels in both layouts: with narrow blocks a conversion for
    // it alone would cost more than the convolution.
    const bool depthwise = param.num_group > 1 && param.num_group == shape[1] &&
                           param.num_group == output[1] && param.kernel.size() <= 2;
    if (depthwise && !IsBlocked(data) && !layout_.converts_for_depthwise) return false;
    if (!layout_.has_convolution(param, shape, output, plain, facts_.has_gradients())) return false;
    COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs, Inputs(node, !plain));
    for (size_t k = 1; k < inputs.size(); ++k) {
      COOPER_ASSIGN_OR_RETURN(inputs[k],
                              WithZeros(std::move(inputs[k]), facts_.shape(node.inputs()[k]).rank(),
                                        AddedChannels(result), AddedChannels(data)));
    }
    AttrMap attrs = node.attrs();
    attrs["num_filter"] = absl::StrCat(param.num_filter);
    attrs["block"] = absl::StrCat(layout_.block);
    if (plain) attrs["plain_data"] = "True";
    COOPER_RETURN_IF_ERROR(
        Set(i, MakeEntry("_blocked_convolution", node.name(), std::move(inputs), attrs)));
    found_ = true;
    return true;
  }

  absl::StatusOr<bool> BatchNorm(int i) {
    const Node& node = facts_.node(i);
    if (!NormalizesChannels(facts_, i) || IsPadded(node.inputs()[0])) return false;
    COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs, Inputs(node, /*blocked=*/true));
    AttrMap attrs = node.attrs();
    attrs["block"] = absl::StrCat(layout_.block);
    if (FeedsRelu(i)) attrs["relu"] = "True";
    COOPER_RETURN_IF_ERROR(
        Set(i, MakeEntry("_blocked_batch_norm", node.name(), std::move(inputs), attrs)));
    return true;
  }

  // Returns whether a relu is the only user of node `i`.
  bool FeedsRelu(int i) const {
    const NodeEntry output{facts_.owner(i), 0};
    if (facts_.uses(output).size() != 1 || facts_.is_output(output)) return false;
    return IsRelu(facts_.node(facts_.uses(output)[0].node));
  }
  static bool IsRelu(const Node& node) {
    return IsOp(node, "Activation") &&
           node.call().param<ActivationParam>().act_type == ActivationType::kRelu;
  }

  // Requires ordered bounds: otherwise implementations differ in which bound wins.
  static bool IsClip(const Node& node) {
    if (!IsOp(node, "clip")) return false;
    const auto& param = node.call().param<ClipParam>();
    return param.a_min <= param.a_max;
  }

  // Returns whether node `i` is the relu of a BatchNorm into which it has been fused.
  bool MergesRelu(int i) {
    const NodeEntry& input = facts_.node(i).inputs()[0];
    if (!IsRelu(facts_.node(i)) || !IsOp(*input.node, "BatchNorm") || !IsBlocked(input) ||
        !IsOp(*blocked_.at(Key(input)).node, "_blocked_batch_norm") ||
        !FeedsRelu(facts_.index(input))) {
      return false;
    }
    NodeEntry both = blocked_.at(Key(input));
    blocked_[Key({facts_.owner(i), 0})] = std::move(both);
    return true;
  }

  // A blocked image is a batch with channels last if images and blocks are one axis.
  absl::StatusOr<bool> Pooling(int i) {
    const Node& node = facts_.node(i);
    const auto& param = node.call().param<PoolingParam>();
    if (ChannelsLast(param.layout)) return false;
    const std::string& name = node.name();
    const Shape& shape = facts_.shape(node.inputs()[0]);
    const int spatial = shape.rank() - 2;
    const int64_t blocks = shape[1] / layout_.block;
    COOPER_ASSIGN_OR_RETURN(NodeEntry data, Blocked(node.inputs()[0]));
    COOPER_ASSIGN_OR_RETURN(data,
                            MakeEntry("Reshape", absl::StrCat(name, "_data"), {std::move(data)},
                                      {{"shape", Codes("-3", spatial, 1)}}));
    AttrMap attrs = node.attrs();
    attrs["layout"] = spatial == 1 ? "NWC" : spatial == 2 ? "NHWC" : "NDHWC";
    COOPER_ASSIGN_OR_RETURN(NodeEntry pooled,
                            MakeEntry("Pooling", name, {std::move(data)}, std::move(attrs)));
    COOPER_RETURN_IF_ERROR(
        Set(i, MakeEntry("Reshape", absl::StrCat(name, "_output"), {std::move(pooled)},
                         {{"shape", Codes(absl::StrCat("-4,-1,", blocks), spatial, 1)}})));
    return true;
  }

  // Returns the blocked convolution that computes `entry` if it has one user and can fuse another
  // operator; otherwise null.
  const Node* OpenConvolution(const NodeEntry& entry) const {
    const auto it = blocked_.find(Key(entry));
    if (it == blocked_.end() || facts_.uses(entry).size() != 1 || facts_.is_output(entry)) {
      return nullptr;
    }
    const Node& node = *it->second.node;
    if (IsOp(node, "_blocked_convolution")) return &node;
    if (!IsOp(node, "_fused_convolution") && !IsOp(node, "_fused_convolution_sum")) return nullptr;
    return node.call().param<FusedConvolutionParam>().ends() ? nullptr : &node;
  }

  // Returns whether node `i` has been fused into the convolution before it.
  absl::StatusOr<bool> Fuse(int i) {
    const Node& node = facts_.node(i);
    if (const Node* conv = OpenConvolution(node.inputs()[0])) {
      if (NormalizesChannels(facts_, i) && IsOp(*conv, "_blocked_convolution")) {
        AttrMap attrs = {{"batch_norm", "True"}};
        for (const char* name : {"eps", "fix_gamma", "use_global_stats"}) {
          const auto it = node.attrs().find(name);
          if (it != node.attrs().end()) attrs.insert(*it);
        }
        std::vector<NodeEntry> inputs = conv->inputs();
        for (size_t k = 1; k < node.inputs().size(); ++k) {
          COOPER_ASSIGN_OR_RETURN(NodeEntry values, Plain(node.inputs()[k]));
          COOPER_ASSIGN_OR_RETURN(
              inputs.emplace_back(),
              WithZeros(std::move(values), /*rank=*/1, AddedChannels(node.inputs()[0]), 0));
        }
        return Fused(i, *conv, "_fused_convolution", std::move(inputs), std::move(attrs));
      }
      if (IsRelu(node) || IsClip(node)) {
        const bool sum = IsOp(*conv, "_fused_convolution_sum");
        AttrMap attrs = {{"relu", "True"}};
        if (IsClip(node)) {
          attrs = {{"clip", "True"},
                   {"a_min", node.attrs().at("a_min")},
                   {"a_max", node.attrs().at("a_max")}};
        }
        return Fused(i, *conv, sum ? "_fused_convolution_sum" : "_fused_convolution",
                     conv->inputs(), std::move(attrs));
      }
    }
    if (!IsOp(node, "elemwise_add") && !IsOp(node, "broadcast_add")) return false;
    // Tries the later operand first, so that the other one exists already.
    for (const int k : {1, 0}) {
      const NodeEntry& other = node.inputs()[1 - k];
      const Node* conv = OpenConvolution(node.inputs()[k]);
      if (conv == nullptr || IsOp(*conv, "_fused_convolution_sum") || !Fits(other) ||
          facts_.shape(other) != facts_.shape(node.inputs()[k])) {
        continue;
      }
      COOPER_ASSIGN_OR_RETURN(NodeEntry sum, Blocked(other));
      // The output may share the summand's memory, and must not overwrite data that the convolution
      // still reads.
      if (MemoryOf(sum) == MemoryOf(conv->inputs()[0])) continue;
      std::vector<NodeEntry> inputs = conv->inputs();
      inputs.insert(inputs.begin() + 2, std::move(sum));
      return Fused(i, *conv, "_fused_convolution_sum", std::move(inputs), {{"sum", "True"}});
    }
    return false;
  }

  // Replaces node `i` and the convolution before it by one node.
  absl::StatusOr<bool> Fused(int i, const Node& conv, const char* op, std::vector<NodeEntry> inputs,
                             AttrMap more) {
    more.insert(conv.attrs().begin(), conv.attrs().end());
    COOPER_RETURN_IF_ERROR(
        Set(i, MakeEntry(op, facts_.node(i).name(), std::move(inputs), std::move(more))));
    return true;
  }

  // Replaces node `i` by the same operator on blocked images.
  absl::StatusOr<bool> Same(int i, bool joins) {
    const Node& node = facts_.node(i);
    const NodeEntry output{facts_.owner(i), 0};
    if (node.num_outputs() != 1) return false;
    for (const NodeEntry& input : node.inputs()) {
      if (!Fits(input) || (!joins && facts_.shape(input) != facts_.shape(output))) return false;
    }
    std::vector<NodeEntry> inputs;
    for (const NodeEntry& input : node.inputs()) {
      COOPER_ASSIGN_OR_RETURN(inputs.emplace_back(), Blocked(input));
    }
    blocked_[Key(output)] = {rebuilder_.Copy(i, std::move(inputs)), 0};
    return true;
  }

  using EntryKey = std::pair<const Node*, int>;
  static EntryKey Key(const NodeEntry& entry) { return {entry.node.get(), entry.index}; }

  const GraphFacts& facts_;
  const BlockedLayout& layout_;
  const bool fuses_;          // whether convolutions fuse the operators after them
  std::vector<bool> padded_;  // by node (PaddedImages)
  GraphRebuilder rebuilder_;
  absl::flat_hash_map<EntryKey, NodeEntry> blocked_;  // by entry of the old graph
  bool found_ = false;
};

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> BlockChannels(const GraphFacts& facts,
                                                          const CanRunFn& can_run) {
  const BlockedLayout* layout = GetBlockedLayout();
  if (layout == nullptr) return std::nullopt;
  for (const char* op : kOps) {
    if (!can_run(op)) return std::nullopt;
  }
  const bool fuses =
      !facts.has_gradients() && can_run("_fused_convolution") && can_run("_fused_convolution_sum");
  const bool pads = fuses && can_run("Pad") && can_run("slice_axis");
  return ChannelBlocker(facts, *layout, fuses, pads).Run();
}

}  // namespace cooper
